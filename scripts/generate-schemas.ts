// Writes what is made from the shapes of definitions: the JSON Schemas in schemas/, and the tables of keys in docs/.
// `--check` only says whether they are up to date.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { PUBLISHED } from "../src/dialects/published-schemas.ts";
import { toJsonSchema } from "../src/dialects/shape/json-schema.ts";
import { workflowSchema } from "../src/dialects/uhlp/schema/workflow-schema.ts";
import { renderKeyTables } from "./key-tables.ts";

const SCHEMAS = {
  "uhlp-workflow.schema.json": workflowSchema,
  ...Object.fromEntries(PUBLISHED.map((each) => [each.file, toJsonSchema(each.shape, each)])),
};

const root = new URL("../", import.meta.url);
await mkdir(new URL("schemas/", root), { recursive: true });
for (const [name, schema] of Object.entries(SCHEMAS)) {
  await put(`schemas/${name}`, `${JSON.stringify(schema, null, 2)}\n`);
}
for (const published of PUBLISHED) {
  const page = `docs/${published.page}`;
  const text = await readFile(new URL(page, root), "utf8");
  await put(page, withTables(text, renderKeyTables(published)));
}

function withTables(page: string, tables: string): string {
  const [before, rest = ""] = page.split("<!-- keys -->");
  const [, after = ""] = rest.split("<!-- /keys -->");
  return `${before}<!-- keys -->\n\n${tables}\n\n<!-- /keys -->${after}`;
}

async function put(name: string, text: string): Promise<void> {
  const path = new URL(name, root);
  if (!process.argv.includes("--check")) await writeFile(path, text);
  else if ((await readFile(path, "utf8").catch(() => "")) !== text) {
    console.error(`${name} is not up to date: run \`npm run docs:schemas\`.`);
    process.exitCode = 1;
  }
}
