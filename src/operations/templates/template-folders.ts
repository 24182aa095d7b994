import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { z } from "zod";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { WRITTEN_DIALECTS } from "../../core/graph/dialects.ts";
import { didYouMean } from "../../dialects/did-you-mean.ts";
import type { Frozen } from "../schemas.ts";
import { type LaidOut, layOutFiles } from "./lay-out-files.ts";
import { linkToCopy } from "./schema-links.ts";

const described = {
  title: z.string(),
  description: z.string(),
  dialect: z.enum(WRITTEN_DIALECTS),
  workflow: z.string().meta({ description: "What to run, relative to its folder." }),
  input: z.string().meta({ description: "A file with an input to try it with." }),
  needs: z.array(z.string()),
};

/** A workflow to begin with, with all that it needs. */
export const templateSchema = z.object({ name: z.string(), ...described }).meta({ id: "Template" });

export type Template = Frozen<z.output<typeof templateSchema>>;

export const templateDetailsSchema = z
  .object({
    ...templateSchema.shape,
    readme: z.string(),
    files: z.array(z.object({ path: z.string(), text: z.string() })),
  })
  .meta({ id: "TemplateDetails" });

export type TemplateDetails = Frozen<z.output<typeof templateDetailsSchema>>;

/** Beside this file's layer in the sources as in the package. */
const TEMPLATES = fileURLToPath(new URL("../../../templates", import.meta.url));

/** By name. */
export async function listTemplates(): Promise<readonly Template[]> {
  const entries = await readdir(TEMPLATES, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const templates = await Promise.all(names.sort().map(readTemplate));
  return templates.map(({ readme: _, ...template }) => template);
}

/** With the text of each of its files. Throws `TEMPLATE_NOT_FOUND`. */
export async function showTemplate(name: string): Promise<TemplateDetails> {
  await refuseUnknown(name);
  const template = await readTemplate(name);
  const paths = await listFiles(name);
  const files = await Promise.all(
    paths.map(async (path) => {
      const { text } = linkToCopy(path, await readFile(join(TEMPLATES, name, path), "utf8"));
      return { path, text };
    }),
  );
  return { ...template, files };
}

/** Copies a template into a folder, and never over anything. Throws `TEMPLATE_NOT_FOUND`, `FOLDER_UNWRITABLE`. */
export async function layOutTemplate(name: string, dir: string): Promise<LaidOut & { readonly template: Template }> {
  await refuseUnknown(name);
  const { readme: _, ...template } = await readTemplate(name);
  return { ...(await layOutFiles(join(TEMPLATES, name), await listFiles(name), dir)), template };
}

/** The name comes from outside: only one that is there becomes a path. */
async function refuseUnknown(name: string): Promise<void> {
  const names = (await listTemplates()).map((template) => template.name);
  if (names.includes(name)) return;
  const meant = didYouMean(name, names);
  throw new PawlError("TEMPLATE_NOT_FOUND", {
    message: `There is no template "${name.slice(0, 100)}".`,
    ...(meant === undefined ? {} : { remedy: `Did you mean "${meant}"?` }),
  });
}

/** A template's metadata is the front matter of its README. */
async function readTemplate(name: string): Promise<Template & { readonly readme: string }> {
  const text = await readFile(join(TEMPLATES, name, "README.md"), "utf8");
  const [, front = "", readme = ""] = /^---\n(.*?)\n---\n(.*)$/s.exec(text) ?? [];
  return { name, ...z.strictObject(described).parse(parse(front)), readme };
}

async function listFiles(name: string): Promise<readonly string[]> {
  const folder = join(TEMPLATES, name);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .replaceAll("\\", "/"),
    )
    .filter((path) => !path.split("/").some((part) => part === ".pawl"))
    .sort();
}
