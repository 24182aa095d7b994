import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { PawlError } from "../core/errors/pawl-error.ts";

/** What was made of the examples in a folder. Paths are relative to it. */
export interface LaidOutExamples {
  readonly folder: string;
  readonly written: readonly string[];
  /** They were there already, word for word. */
  readonly alike: readonly string[];
  /** Something else has their names: it is as it was. */
  readonly kept: readonly string[];
  /** The server that an `.mcp.json` of somebody else lacks. */
  readonly mcpServer: string;
}

/** Beside this file's layer in the sources as in the package. */
const EXAMPLES = fileURLToPath(new URL("../../examples/terminal/", import.meta.url));
/** Whoever tries the examples where they lie leaves other things beside them. */
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
  const folder = resolve(dir);
  const files = (await Promise.all(TO_LAY_OUT.map(listFiles))).flat();
  const done: { readonly file: string; readonly outcome: Outcome }[] = [];
  try {
    for (const file of files) done.push({ file, outcome: await layOut(file, folder) });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new PawlError("FOLDER_UNWRITABLE", { message: `${folder} cannot be written to: ${reason}.`, cause });
  }
  const named = (wanted: Outcome) => done.filter(({ outcome }) => outcome === wanted).map(({ file }) => file);
  const mcpServer = (await readFile(join(EXAMPLES, ".mcp.json"), "utf8")).trim();
  return { folder, written: named("written"), alike: named("alike"), kept: named("kept"), mcpServer };
}

type Outcome = "written" | "alike" | "kept";

/** The file itself, or what is in the folder. */
async function listFiles(name: string): Promise<readonly string[]> {
  try {
    return (await readdir(join(EXAMPLES, name))).sort().map((file) => `${name}/${file}`);
  } catch {
    return [name];
  }
}

async function layOut(file: string, folder: string): Promise<Outcome> {
  const content = await readFile(join(EXAMPLES, file));
  const target = join(folder, file);
  await mkdir(dirname(target), { recursive: true });
  try {
    await writeFile(target, content, { flag: "wx" });
    return "written";
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    const there = await readFile(target).catch(() => undefined);
    return there?.equals(content) === true ? "alike" : "kept";
  }
}
