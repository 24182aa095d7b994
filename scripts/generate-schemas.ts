// Writes what is made from the shapes of definitions: the JSON Schemas in schemas/, and the tables of keys in docs/.
// `--check` only says whether they are up to date.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { PUBLISHED, type PublishedShape } from "../src/dialects/published-schemas.ts";
import { toJsonSchema } from "../src/dialects/shape/json-schema.ts";
import { renderKeyTables } from "./key-tables.ts";

const root = new URL("../", import.meta.url);
await mkdir(new URL("schemas/", root), { recursive: true });
for (const published of PUBLISHED) {
  await put(`schemas/${published.file}`, `${JSON.stringify(toJsonSchema(published.shape, published), null, 2)}\n`);
  const page = `docs/${published.page}`;
  const text = await readFile(new URL(page, root), "utf8");
  await put(page, withTables(text, published));
}

function withTables(page: string, published: PublishedShape): string {
  const [begin, end] = [`<!-- keys of ${published.file} -->`, `<!-- end of ${published.file} -->`];
  const [before, rest = ""] = page.split(begin);
  const [, after = ""] = rest.split(end);
  return `${before}${begin}\n\n${renderKeyTables(published)}\n\n${end}${after}`;
}

async function put(name: string, text: string): Promise<void> {
  const path = new URL(name, root);
  if (!process.argv.includes("--check")) await writeFile(path, text);
  else if ((await readFile(path, "utf8").catch(() => "")) !== text) {
    console.error(`${name} is not up to date: run \`npm run docs:schemas\`.`);
    process.exitCode = 1;
  }
}
