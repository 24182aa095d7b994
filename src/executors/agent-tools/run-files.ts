import { isPawlError } from "../../core/errors/pawl-error.ts";
import { writeExact } from "../../core/exact-json.ts";
import { isNumber, type JsonObject } from "../../core/json.ts";
import { decodeUtf8 } from "../../ports/decode-utf8.ts";
import type { FileStorage } from "../../ports/file-storage.ts";
import type { AgentTool, ToolCallResult } from "../../ports/tools/agent-toolbox.ts";

const MAX_FILE_BYTES = 5 * 1024 * 1024;
const MAX_FOLDER_BYTES = 100 * 1024 * 1024;
const MAX_FILES = 1_000;
const MAX_PATH_CHARS = 300;
const MAX_READ_CHARS = 100_000;

/** The files of a run, for its agents and `bash`. They are artifacts of the run from the moment they are written. No path leads out of the folder. */
export function createRunFiles(files: FileStorage): readonly AgentTool[] {
  const tool = (
    name: string,
    more: Pick<AgentTool, "description" | "inputSchema"> & { call(args: JsonObject): Promise<ToolCallResult> },
  ): AgentTool => ({
    name,
    tool: name,
    aliases: [`builtin.${name}`],
    description: more.description,
    inputSchema: more.inputSchema,
    // Writing the same again, or deleting what is gone, changes nothing.
    isRepeatable: true,
    call: (args) => answerFaults(() => more.call(args)),
  });
  return [
    tool("read_file", {
      description: "Reads a file of this run's folder. Text comes as it is; anything else with `encoding` base64.",
      inputSchema: schemaOf({ path: PATH, encoding: ENCODING, offset: OFFSET }, ["path"]),
      call: (args) => read(args, files),
    }),
    tool("write_file", {
      description: "Writes a whole file into this run's folder, in place of what it was. Folders in its path are made.",
      inputSchema: schemaOf({ path: PATH, content: { type: "string" }, encoding: ENCODING }, ["path", "content"]),
      call: (args) => write(args, files),
    }),
    tool("list_files", {
      description: "Lists the files of this run's folder, with their sizes in bytes.",
      inputSchema: schemaOf({}, []),
      call: () => list(files),
    }),
    tool("delete_file", {
      description: "Deletes a file of this run's folder.",
      inputSchema: schemaOf({ path: PATH }, ["path"]),
      call: (args) => remove(args, files),
    }),
  ];
}

const PATH = { type: "string", description: "Relative to the folder, with `/` between its parts: notes/plan.md" };
const ENCODING = { type: "string", enum: ["text", "base64"], default: "text" };
const OFFSET = { type: "integer", minimum: 0, default: 0, description: "Begin at this character." };

function schemaOf(properties: JsonObject, required: readonly string[]): JsonObject {
  return { type: "object", properties, required, additionalProperties: false };
}

/** Writes the given files before an agent begins. A file that is already there is kept. */
export async function writeGivenFiles(given: JsonObject, files: FileStorage): Promise<void> {
  for (const [path, content] of Object.entries(given)) {
    const place = toPlace(path);
    if (!place.ok || typeof content !== "string") continue;
    if ((await files.read(place.path)) === undefined) await files.write(place.path, content);
  }
}

async function read({ path, encoding, offset }: JsonObject, files: FileStorage): Promise<ToolCallResult> {
  const place = toPlace(path);
  if (!place.ok) return toErrorResult(place.reason);
  // Looked up first: a link is no file here, and a large one is not read at all.
  const found = (await files.list("")).find((file) => file.path === place.path);
  if (found !== undefined && found.bytes > MAX_FILE_BYTES)
    return toErrorResult(`It is larger than ${MAX_FILE_BYTES} bytes.`);
  const content = found === undefined ? undefined : await files.read(place.path);
  if (content === undefined) return toErrorResult(`There is no file ${writeExact(path)}.`);
  const text = encoding === "base64" ? Buffer.from(content).toString("base64") : decodeUtf8(content, "drop");
  if (text === undefined) return toErrorResult("It is no text. Read it with `encoding` base64.");
  const from = isNumber(offset) ? Number(offset) : 0;
  const end = from + MAX_READ_CHARS;
  const rest = end < text.length ? `\n\n[${text.length - end} more characters: go on with offset ${end}]` : "";
  return toTextResult(text.slice(from, end) + rest);
}

async function write({ path, content, encoding }: JsonObject, files: FileStorage): Promise<ToolCallResult> {
  const place = toPlace(path);
  if (!place.ok) return toErrorResult(place.reason);
  const bytes = Buffer.from(String(content), encoding === "base64" ? "base64" : "utf8");
  if (bytes.length > MAX_FILE_BYTES) return toErrorResult(`A file may have ${MAX_FILE_BYTES} bytes; this has more.`);
  const others = (await files.list("")).filter((file) => file.path !== place.path);
  if (others.length >= MAX_FILES) return toErrorResult(`The folder may hold ${MAX_FILES} files. Delete some first.`);
  const size = others.reduce((sum, file) => sum + file.bytes, bytes.length);
  if (size > MAX_FOLDER_BYTES)
    return toErrorResult(`The folder may hold ${MAX_FOLDER_BYTES} bytes. Delete some first.`);
  await files.write(place.path, bytes);
  return toTextResult(`Written: ${bytes.length} bytes.`);
}

async function list(files: FileStorage): Promise<ToolCallResult> {
  const found = await files.list("");
  if (found.length === 0) return toTextResult("The folder is empty.");
  const lines = found.slice(0, MAX_FILES).map(({ path, bytes }) => `${path} (${bytes} bytes)`);
  return toTextResult(
    [...lines, ...(found.length > MAX_FILES ? [`and ${found.length - MAX_FILES} more`] : [])].join("\n"),
  );
}

async function remove({ path }: JsonObject, files: FileStorage): Promise<ToolCallResult> {
  const place = toPlace(path);
  if (!place.ok) return toErrorResult(place.reason);
  return toTextResult((await files.remove(place.path)) ? "Deleted." : "There was no such file.");
}

type Place = { readonly ok: true; readonly path: string } | { readonly ok: false; readonly reason: string };

/** The storage refuses ways out too; here a model is told what is wrong. */
function toPlace(path: unknown): Place {
  const written = typeof path === "string" ? path.replace(/^\.\//, "") : "";
  const parts = written.split("/");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  const isOdd = written.length > MAX_PATH_CHARS || /[\u0000-\u001f\\]/.test(written);
  if (isOdd || parts.some((part) => part === "" || part === "." || part === ".."))
    return { ok: false, reason: "A path is relative to the folder and stays in it, e.g. notes/plan.md." };
  return { ok: true, path: written };
}

/** Tells the model what the storage refuses. */
async function answerFaults(work: () => Promise<ToolCallResult>): Promise<ToolCallResult> {
  try {
    return await work();
  } catch (error) {
    if (isPawlError(error)) return toErrorResult(error.message);
    throw error;
  }
}

export function toTextResult(text: string): ToolCallResult {
  return { isError: false, text, content: [{ type: "text", text }] };
}

export function toErrorResult(text: string): ToolCallResult {
  return { ...toTextResult(text), isError: true };
}
