import { existsSync } from "node:fs";
import { readFile, realpath, stat } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import { ERRORS, type ErrorCode } from "../../core/errors/error-table.ts";
import type { Problem } from "../../core/errors/problem.ts";
import { writeExact } from "../../core/exact-json.ts";
import type { Graph } from "../../core/graph/graph.ts";
import type { Json } from "../../core/json.ts";
import type { NeededFile } from "../../dialects/definition.ts";
import { isMisspelt } from "../../dialects/did-you-mean.ts";
import { renderProblem } from "../../dialects/render-problem.ts";
import { findMissingFunction } from "../../dialects/work/find-missing-function.ts";
import type { ShownProblem } from "../../hosts/compiled-definition.ts";
import { decodeUtf8 } from "../../ports/decode-utf8.ts";
import { refuseOutOfFiles } from "./read-text-file.ts";

export interface FilesToPin {
  /** The definition's own name, for the places of problems. */
  readonly text: string;
  readonly files: readonly NeededFile[];
  readonly folders: readonly string[];
  /** Likely misspellings are warnings. */
  readonly isLenient?: boolean;
  /** Instead of the folders: where the definition itself comes from. Rejects where a file cannot be had. */
  read?(path: string): Promise<string>;
}

export interface PinnedFiles {
  /** Absent where a file is missing or wrong. */
  readonly graph?: Graph;
  readonly problems: readonly ShownProblem[];
}

const MAX_FILE_BYTES = 1024 * 1024;

/**
 * Puts the scripts and prompts that steps name into the graph's settings, so that a run goes on with those that it began
 * with. A file lies inside the application's folder: no absolute path, no `..`, no link that leads out.
 */
export async function pinFiles(graph: Graph, wanted: FilesToPin): Promise<PinnedFiles> {
  const { text, files } = wanted;
  if (files.length === 0) return { graph, problems: [] };
  const folder = folderFor(wanted);
  const scripts: [string, Json][] = [];
  const prompts: [string, Json][] = [];
  const problems: ShownProblem[] = [];
  for (const file of uniqueByPath(files)) {
    if (file.kind === "server") {
      problems.push(show(missingServer(file, graph, wanted), text));
      continue;
    }
    const read = await (wanted.read === undefined ? readInside(folder, file.path) : fetchText(wanted.read, file.path));
    if ("fault" in read) {
      problems.push(show(faultAt(file, read.fault, folder), text));
    } else if (file.kind === "script") {
      scripts.push([file.path, read.text]);
      const uses = files.filter(({ path, kind }) => path === file.path && kind === "script");
      problems.push(...findMissingFunctions(read.text, uses, wanted).map((problem) => show(problem, text)));
    } else {
      const prompt = await parsePrompt(file.path, read.text, wanted);
      problems.push(...prompt.problems);
      if (prompt.template === undefined) continue;
      prompts.push([file.path, prompt.template]);
      const uses = files.filter(({ path, kind }) => path === file.path && kind === "prompt");
      problems.push(
        ...(await findUnfilled(prompt.template.template, uses, wanted)).map((problem) => show(problem, text)),
      );
    }
  }
  if (problems.some(({ severity }) => severity === "error")) return { problems };
  const settings = {
    ...graph.settings,
    ...(folder === undefined || (scripts.length === 0 && prompts.length === 0) ? {} : { folder }),
    ...(scripts.length === 0 ? {} : { scripts: Object.fromEntries(scripts) }),
    ...(prompts.length === 0 ? {} : { prompts: Object.fromEntries(prompts) }),
  };
  return { graph: { ...graph, settings }, problems };
}

/** The first folder that has them all. */
function folderFor({ files, folders, read }: FilesToPin): string | undefined {
  if (read !== undefined) return undefined;
  return folders.find((each) => files.every(({ path }) => existsSync(join(each, path)))) ?? folders[0];
}

async function fetchText(
  read: (path: string) => Promise<string>,
  path: string,
): Promise<{ readonly text: string } | { readonly fault: Fault }> {
  try {
    return { text: await read(path) };
  } catch (error) {
    return missing(`${path} cannot be fetched: ${error instanceof Error ? error.message : String(error)}`);
  }
}

interface Fault {
  readonly code: ErrorCode;
  readonly message: string;
}

async function readInside(
  folder: string | undefined,
  path: string,
): Promise<{ readonly text: string } | { readonly fault: Fault }> {
  if (folder === undefined) return missing(`${path} belongs to an application, and this text has none.`);
  const parts = path.split(/[\\/]/);
  if (isAbsolute(path) || parts.includes("..")) return outside(path);
  // `.env` and its like hold secrets: pinned, they would stand in the journal.
  if (parts.some((part) => part.startsWith(".") && part !== "."))
    return {
      fault: { code: "FILE_OUTSIDE", message: `${path} is hidden: neither scripts nor prompts begin with a dot.` },
    };
  if (path.includes("\0")) return missing(`${writeExact(path)} is no path.`);
  try {
    const [root, file] = [await realpath(folder), await realpath(join(folder, path))];
    if (isOutside(relative(root, file))) return outside(path);
    const { size } = await stat(file);
    if (size > MAX_FILE_BYTES) return { fault: { code: "TOO_LARGE", message: `${path} is larger than 1 MB.` } };
    return toText(path, await readFile(file));
  } catch (error) {
    refuseOutOfFiles(error, path);
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (code === "EISDIR") return missing(`${path} is a folder.`);
    return missing(`${path} is not in ${folder}${code === "ENOENT" || code === "ENOTDIR" ? "" : ` (${code})`}.`);
  }
}

function toText(path: string, bytes: Uint8Array): { readonly text: string } | { readonly fault: Fault } {
  const text = decodeUtf8(bytes, "drop");
  return text === undefined ? { fault: { code: "FILE_NOT_TEXT", message: `${path} is not UTF-8 text.` } } : { text };
}

function isOutside(path: string): boolean {
  return path === ".." || path.startsWith(`..${sep}`) || isAbsolute(path);
}

/** Of a server's file that is not there. */
function missingServer({ path, at, isOptional }: NeededFile, { settings }: Graph, { isLenient }: FilesToPin): Problem {
  const message = `The server's file ${path} is not in ${settings["folder"]}.`;
  const severity = isLenient === true || isOptional === true ? "warning" : "error";
  const remedy = `Check the path. Paths are relative to ${settings["folder"]}.`;
  return { code: "FILE_NOT_FOUND", severity, message, remedy, place: at };
}

function missing(message: string): { readonly fault: Fault } {
  return { fault: { code: "FILE_NOT_FOUND", message } };
}

function outside(path: string): { readonly fault: Fault } {
  return { fault: { code: "FILE_OUTSIDE", message: `${path} leads out of the application's folder.` } };
}

async function parsePrompt(path: string, text: string, { isLenient }: FilesToPin) {
  const { parsePromptTemplate } = await import("../../dialects/uhlp/prompts/prompt-template.ts");
  const { template, problems } = await parsePromptTemplate({ text, file: path }, { isLenient });
  return {
    ...(template === undefined ? {} : { template: { ...template } }),
    problems: problems.map((problem) => show(problem, text)),
  };
}

/** Names that the template reads and a step that uses it does not give, each told once. */
async function findUnfilled(
  template: string,
  uses: readonly NeededFile[],
  { isLenient = false }: FilesToPin,
): Promise<readonly Problem[]> {
  const { findUnfilledNames, remedyForUnfilled } = await import("../../dialects/uhlp/prompts/check-template.ts");
  const problems = new Map<string, Problem>();
  for (const { path, at, names } of uses) {
    if (names === undefined) continue;
    for (const { name, fault } of await findUnfilledNames(template, names)) {
      const message = `${path} reads \`${name}\` (line ${fault.line} of the template), which the step does not give it.`;
      const remedy = remedyForUnfilled(name, names);
      problems.set(`${at.line} ${name}`, {
        code: "PROMPT_NAME_UNFILLED",
        severity: !isLenient && isMisspelt(name, names) ? "error" : "warning",
        message,
        remedy,
        place: at,
      });
    }
  }
  return [...problems.values()];
}

function findMissingFunctions(
  text: string,
  uses: readonly NeededFile[],
  { isLenient = false }: FilesToPin,
): readonly Problem[] {
  return uses.flatMap(({ path, function: called }): Problem[] => {
    const missing = called && findMissingFunction(called, text);
    if (called === undefined || missing === undefined) return [];
    const message = `${path} has no function \`${called.name}\`.`;
    const remedy = missing.remedy ?? ERRORS.FUNCTION_MISSING.remedy;
    const severity = isLenient ? "warning" : "error";
    return [{ code: "FUNCTION_MISSING", severity, message, remedy, place: called.at }];
  });
}

function faultAt({ at }: NeededFile, { code, message }: Fault, folder: string | undefined): Problem {
  const { remedy } = ERRORS[code];
  const where = folder === undefined ? "" : ` Paths are relative to ${folder}.`;
  return { code, severity: "error", message, remedy: `${remedy}${where}`, place: at };
}

function show(problem: Problem, text: string): ShownProblem {
  return { ...problem, rendered: renderProblem(problem, text) };
}

function uniqueByPath(files: readonly NeededFile[]): readonly NeededFile[] {
  const seen = new Set<string>();
  return files.filter(({ kind, path }) => {
    const key = `${kind} ${path}`;
    return !seen.has(key) && seen.add(key);
  });
}
