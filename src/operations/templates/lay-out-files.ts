import { readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { makeFolder } from "./make-folder.ts";
import { linkToCopy, readSchema } from "./schema-links.ts";

/** The outcome for files in a folder. Paths are relative to it. */
export interface LaidOut {
  readonly folder: string;
  readonly written: readonly string[];
  /** They were there already, word for word. */
  readonly alike: readonly string[];
  /** Something else has their names: it is as it was. */
  readonly kept: readonly string[];
}

/** Copies files of one folder into another with the schemas that they name, and never over anything. Throws `FOLDER_UNWRITABLE`. */
export async function layOutFiles(source: string, files: readonly string[], dir: string): Promise<LaidOut> {
  const contents = new Map<string, Buffer>();
  const schemas = new Set<string>();
  for (const file of files) {
    const { text, schema } = linkToCopy(file, await readFile(join(source, file), "utf8"));
    contents.set(file, Buffer.from(text));
    if (schema !== undefined) schemas.add(schema);
  }
  for (const schema of schemas) contents.set(schema, await readSchema(schema));
  return layOutContents(dir, contents);
}

/** Files by their names in the folder. Never over anything. Throws `FOLDER_UNWRITABLE`. */
export async function layOutContents(dir: string, contents: ReadonlyMap<string, Buffer>): Promise<LaidOut> {
  const folder = resolve(dir);
  const done: { readonly file: string; readonly outcome: Outcome }[] = [];
  try {
    for (const [file, content] of contents) done.push({ file, outcome: await layOut(join(folder, file), content) });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new PawlError("FOLDER_UNWRITABLE", { message: `${folder} cannot be written to: ${reason}.`, cause });
  }
  const named = (wanted: Outcome) => done.filter(({ outcome }) => outcome === wanted).map(({ file }) => file);
  return { folder, written: named("written"), alike: named("alike"), kept: named("kept") };
}

type Outcome = "written" | "alike" | "kept";

async function layOut(target: string, content: Buffer): Promise<Outcome> {
  await makeFolder(dirname(target));
  try {
    await writeFile(target, content, { flag: "wx" });
    return "written";
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    const there = await readFile(target).catch(() => undefined);
    return there?.equals(content) === true ? "alike" : "kept";
  }
}
