import { z } from "zod";
import { listOf, offsetQuery, pageQuery } from "../../../../operations/schemas.ts";
import { listTemplates, showTemplate } from "../../../../operations/templates/templates.ts";
import { defineEndpoint } from "../endpoint.ts";

const summary = {
  name: z.string(),
  title: z.string(),
  description: z.string(),
  dialect: z.enum(["sandcastle", "uhlp", "terminal", "agents"]),
  workflow: z.string().meta({ description: "What to run, relative to its folder." }),
  input: z.string().meta({ description: "A file with an input to try it with." }),
  needs: z.array(z.string()),
};
const templateSchema = z.object(summary).meta({ id: "Template" });
const detailsSchema = z
  .object({ ...summary, readme: z.string(), files: z.array(z.object({ path: z.string(), text: z.string() })) })
  .meta({ id: "TemplateDetails" });

/** `GET /templates`: by name. */
export const listTemplatesEndpoint = defineEndpoint({
  method: "GET",
  path: "/templates",
  id: "listTemplates",
  summary: "List templates of workflows",
  tag: "templates",
  scope: "read",
  query: z.strictObject({ ...pageQuery, ...offsetQuery }),
  answer: listOf(templateSchema),
  async handle({ query: { limit, cursor, offset = 0 } }) {
    const templates = await listTemplates();
    const rest = templates.filter(({ name }) => cursor === undefined || name > cursor).slice(offset);
    const items = rest.slice(0, limit);
    const next = rest.length > limit ? (items.at(-1)?.name ?? null) : null;
    return {
      data: { items: [...items], next_cursor: next },
      countAll: async () => ({ total: templates.length, limit, offset }),
    };
  },
});

/** `GET /templates/{name}`: with the text of each of its files. */
export const getTemplate = defineEndpoint({
  method: "GET",
  path: "/templates/{name}",
  id: "showTemplate",
  summary: "Show a template with its files",
  tag: "templates",
  scope: "read",
  params: z.object({ name: z.string().min(1) }),
  answer: detailsSchema,
  async handle({ params }) {
    return { data: await showTemplate(params.name) };
  },
});
