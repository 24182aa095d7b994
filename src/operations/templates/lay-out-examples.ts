import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type LaidOut, layOutFiles } from "./lay-out-files.ts";

export interface LaidOutExamples extends LaidOut {
  /** The server that an `.mcp.json` of somebody else lacks. */
  readonly mcpServer: string;
}

/** Beside this file's layer in the sources as in the package. */
const EXAMPLES = fileURLToPath(new URL("../../../examples/terminal/", import.meta.url));
const PROJECT = fileURLToPath(new URL("../../../examples/project/", import.meta.url));
/** Trying the examples in place leaves other files beside them. */
const TO_LAY_OUT = [
  "README.md",
  ".mcp.json",
  "hello.json",
  "branch-on-tests.json",
  "debug-with-user.json",
  "ci-pipeline.json",
  ".terminal_control_workflows",
  "scripts",
  "src",
  "broken",
];

/** Copies the examples of terminal workflows into a folder, and never over anything. Throws `FOLDER_UNWRITABLE`. */
export async function layOutTerminalExamples(dir: string): Promise<LaidOutExamples> {
  const files = (await Promise.all(TO_LAY_OUT.map(listFiles))).flat();
  const laidOut = await layOutFiles(EXAMPLES, files, dir);
  return { ...laidOut, mcpServer: (await readFile(join(EXAMPLES, ".mcp.json"), "utf8")).trim() };
}

/** Copies a project of TypeScript into a folder, and never over anything. Throws `FOLDER_UNWRITABLE`. */
export function layOutProject(dir: string): Promise<LaidOut> {
  return layOutFiles(PROJECT, ["package.json", "tsconfig.json", "flow.ts", "start.ts", "README.md"], dir);
}

/** The file itself, or what is in the folder. */
async function listFiles(name: string): Promise<readonly string[]> {
  const inside = await readdir(join(EXAMPLES, name)).catch(() => undefined);
  return inside?.sort().map((file) => `${name}/${file}`) ?? [name];
}
