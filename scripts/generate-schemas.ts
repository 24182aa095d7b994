// Writes the published JSON Schemas of definitions into schemas/. `--check` only says whether they are up to date.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { agentsFileSchema } from "../src/dialects/agents/file-schema.ts";
import { workflowSchema as terminalSchema } from "../src/dialects/terminal/workflow-schema.ts";
import { promptSchema } from "../src/dialects/uhlp/schema/prompt-schema.ts";
import { workflowSchema } from "../src/dialects/uhlp/schema/workflow-schema.ts";

const SCHEMAS = {
  "uhlp-workflow.schema.json": workflowSchema,
  "uhlp-prompt.schema.json": promptSchema,
  "terminal-workflow.schema.json": terminalSchema,
  "agents-file.schema.json": agentsFileSchema,
};

const folder = new URL("../schemas/", import.meta.url);
await mkdir(folder, { recursive: true });

for (const [name, schema] of Object.entries(SCHEMAS)) {
  const path = new URL(name, folder);
  const text = `${JSON.stringify(schema, null, 2)}\n`;
  if (!process.argv.includes("--check")) await writeFile(path, text);
  else if ((await readFile(path, "utf8").catch(() => "")) !== text) {
    console.error(`schemas/${name} is not up to date: run \`npm run docs:schemas\`.`);
    process.exitCode = 1;
  }
}
