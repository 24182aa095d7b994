import { traitsOf } from "../../../core/graph/dialects.ts";
import type { ApiWanted } from "../../../operations/templates/lay-out-api.ts";
import { layOutProject, layOutTerminalExamples } from "../../../operations/templates/lay-out-examples.ts";
import type { LaidOut } from "../../../operations/templates/lay-out-files.ts";
import { print, printEnvelope, tell } from "../print.ts";

/** `pawl init terminal`: the examples of terminal workflows, and what to type next. */
export async function initTerminal(dir: string, { json }: { readonly json?: true }): Promise<number> {
  const laidOut = await layOutTerminalExamples(dir);
  if (json === true) return answer(laidOut);
  tellLaidOut(laidOut);
  const { kept, mcpServer } = laidOut;
  if (kept.includes(".mcp.json")) tell(`To offer terminals to your editor, add this server to it: ${mcpServer}`);
  const others = kept.filter((file) => file !== ".mcp.json");
  if (others.length > 0) tell("For examples that are whole, lay them out elsewhere: pawl init terminal my-terminals");
  tell(toNext(dir));
  return 0;
}

/** `pawl init ts`: a project with a workflow in TypeScript, and what to type next. */
export async function initProject(dir: string, { json }: { readonly json?: true }): Promise<number> {
  const laidOut = await layOutProject(dir);
  if (json === true) return answer(laidOut);
  tellLaidOut(laidOut);
  const needs = laidOut.kept.includes("package.json") ? "npm install pawl zod" : "npm install";
  tell(`
Next:
${toFolder(dir)}  ${needs}
  npx pawl run flow.ts#words
  npm start
README.md says what is there. It needs Node 22.18 or newer.`);
  return 0;
}

/** `pawl init openapi.yaml`: a workflow for each operation of the document, and what they need. */
export async function initApi(document: string, dir: string, options: ApiWanted & { json?: true }): Promise<number> {
  const { layOutApi } = await import("../../../operations/templates/lay-out-api.ts");
  const { left_out, variables, ...laidOut } = await layOutApi(document, dir, options);
  if (options.json === true) return answer(laidOut, { left_out, variables });
  tellLaidOut(laidOut);
  for (const left of left_out) tell(`Left out: ${left}.`);
  if (variables.length > 0) tell(`They read ${variables.join(", ")} of the environment or of .env.`);
  tell(`\nNext:\n  pawl validate ${toShellWord(dir)}/*.yaml`);
  return 0;
}

/** `pawl init --list`. */
export async function listTemplatesCommand({ json }: { readonly json?: true }): Promise<number> {
  const { listTemplates } = await import("../../../operations/templates/template-folders.ts");
  const templates = await listTemplates();
  if (json === true) {
    printEnvelope({ items: templates, next_cursor: null });
    return 0;
  }
  const width = Math.max(...templates.map(({ name }) => name.length));
  for (const { name, title, dialect } of templates) print(`${name.padEnd(width)}  ${dialect.padEnd(10)}  ${title}`);
  tell(
    "\nNext:\n  pawl init research        lays it out in the folder research\n  pawl init terminal        examples of terminal workflows\n  pawl init ts              a project of workflows in TypeScript",
  );
  return 0;
}

/** `pawl init TEMPLATE`: its files, what it needs, and what to type next. */
export async function initTemplate(name: string, dir: string, { json }: { readonly json?: true }): Promise<number> {
  const { layOutTemplate } = await import("../../../operations/templates/template-folders.ts");
  const { template, ...laidOut } = await layOutTemplate(name, dir);
  if (json === true) return answer(laidOut, { template });
  tellLaidOut(laidOut);
  tell(`\n${template.description}\nIt needs ${template.needs.join("; ")}.`);
  const { firstAgent } = traitsOf(template);
  const agent = firstAgent === undefined ? "" : ` --agent ${firstAgent}`;
  tell(`
Next:
${toFolder(dir)}  pawl run ${toShellWord(template.workflow)} --input ${toShellWord(template.input)}${agent}
README.md says what it does, and what to change.`);
  return 0;
}

function answer({ folder, written, alike, kept }: LaidOut, first: object = {}): number {
  printEnvelope({ ...first, folder, written, already_there: alike, left_alone: kept });
  return 0;
}

function tellLaidOut({ folder, written, alike, kept }: LaidOut): void {
  for (const file of written) print(file);
  const there = alike.length > 0 ? `; ${alike.length} were there already` : "";
  tell(`${written.length} files written to ${folder}${there}.`);
  for (const file of kept) tell(`${file} is there already and says something else: it is left alone.`);
}

function toNext(dir: string): string {
  return `
Next:
${toFolder(dir)}  pawl run hello.json -i who=Ada
  pawl run branch-on-tests.json -i program=src/total.sh
  pawl run ci-pipeline.json
README.md says what they show. An MCP client that is started here finds terminals in .mcp.json.`;
}

function toFolder(dir: string): string {
  return dir === "." ? "" : `  cd ${toShellWord(dir)}\n`;
}

function toShellWord(text: string): string {
  return /^[\w./~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
