import { z } from "zod";
import { byItsSurfaces, defineOperation } from "../operation.ts";
import { idField, listOf, offsetQuery, pageQuery, takePageAfter } from "../schemas.ts";
import {
  listTemplates as list,
  showTemplate as show,
  templateDetailsSchema,
  templateSchema,
} from "./template-folders.ts";

const NO_MODEL = { no: "A template is where a person begins; a model writes a definition and validates it." };

export const listTemplates = defineOperation({
  id: "listTemplates",
  summary: "List templates of workflows",
  scope: "read",
  effect: "reads",
  input: z.strictObject({ ...pageQuery, ...offsetQuery }),
  output: listOf(templateSchema),
  http: { method: "GET", path: "/templates" },
  cli: { byHand: ["init"] },
  mcp: NO_MODEL,
  word: ({ name: text, title: meaning }) => ({ text, meaning }),
  handle: async (_, page) => takePageAfter(await list(), ({ name }) => name, page),
  count: async () => (await list()).length,
});

export const showTemplate = defineOperation({
  id: "showTemplate",
  summary: "Show a template with its files",
  scope: "read",
  effect: "reads",
  input: z.strictObject({ name: idField("The template's name.") }),
  output: templateDetailsSchema,
  errors: ["TEMPLATE_NOT_FOUND"],
  http: { method: "GET", path: "/templates/{name}" },
  cli: { byHand: ["init"] },
  mcp: NO_MODEL,
  handle: (_, { name }) => show(name),
});

export const layOutTemplate = defineOperation({
  id: "layOutTemplate",
  summary: "Lay out a template or the examples of terminal workflows in a folder; nothing that is there is touched",
  scope: "write",
  effect: { does: "writes", again: true },
  input: z.strictObject({
    template: z.string().optional().describe("Without one: list them."),
    dir: z.string().optional().describe("The folder; default: named after the template."),
  }),
  output: z.unknown(),
  errors: ["TEMPLATE_NOT_FOUND", "FOLDER_UNWRITABLE"],
  http: { no: "It writes into a folder of this machine; `showTemplate` answers with the files." },
  cli: { byHand: ["init"] },
  mcp: NO_MODEL,
  handle: byItsSurfaces,
});
