import { toArtifactFolder } from "../../../ports/artifact-folder.ts";
import { decodeUtf8 } from "../../../ports/decode-utf8.ts";
import type { Asks, Outcome, ProducedFile } from "../../../ports/executor.ts";
import type { FileStorage } from "../../../ports/file-storage.ts";
import type { RunningTask, TaskParts } from "./running-task.ts";

export interface FileKeeping {
  readonly files: FileStorage;
  /** The limit for one file. */
  readonly maxBytes: number;
  mask(text: string): string;
}

export interface DroppedFile {
  readonly type: "file_dropped";
  readonly name: string;
  readonly bytes: number;
  readonly reason: string;
}

const MAX_FILES = 100;
const MAX_NAME_BYTES = 150;

/**
 * Stores the files of an outcome before it is recorded, so that a recorded step has its files. Resolves with the rest of the
 * outcome. Undefined: there are none to store.
 */
export function storeProducedFiles(
  task: RunningTask,
  outcome: Outcome | Asks,
  { files: storage, writer, policies }: TaskParts,
): Promise<Outcome> | undefined {
  if (outcome.status !== "succeeded" || task.isAbandoned) return undefined;
  const { files = [], ...rest } = outcome;
  if (files.length === 0) return undefined;
  const mask = (text: string) => policies.cleanText(task, writer.mask(text));
  return storeFiles(files, task, { files: storage, maxBytes: writer.maxBytes, mask }).then((dropped) => {
    for (const event of dropped) task.emit({ type: "log", event: { ...event } });
    return rest;
  });
}

/**
 * Stores files as artifacts of their run: `artifacts/RUN/steps/PATH/NAME`. Another attempt writes the same names again. Names
 * come from outside: only the last part of a path counts, and equal names get numbers.
 */
export async function storeFiles(
  produced: readonly ProducedFile[],
  { runId, path }: { readonly runId: string; readonly path: string },
  { files, maxBytes, mask }: FileKeeping,
): Promise<readonly DroppedFile[]> {
  const folder = `${toArtifactFolder(runId)}steps/${toSegment(path)}/`;
  const taken = new Set<string>();
  const dropped: DroppedFile[] = [];
  for (const { name: given, content } of produced) {
    const name = makeUnique(toFileName(given), taken);
    const bytes = content.byteLength;
    const isTooLarge = bytes > maxBytes;
    if (isTooLarge || taken.size >= MAX_FILES) {
      const reason = isTooLarge ? `It is larger than ${maxBytes} bytes.` : `The step has more than ${MAX_FILES} files.`;
      dropped.push({ type: "file_dropped", name, bytes, reason });
      continue;
    }
    taken.add(name.toLowerCase());
    await files.write(folder + name, maskText(content, mask));
  }
  return dropped;
}

/** The folder of a step instance. Long ones end in the part that differs, so that two instances never share a folder. */
function toSegment(path: string): string {
  // People type it, and it stands in URLs.
  const plain = path.replaceAll("[", "(").replaceAll("]", ")").replaceAll("#", "~");
  const text = encodeURIComponent(plain.toWellFormed()).replaceAll("%", "=");
  return text.length <= MAX_NAME_BYTES ? text : `${text.slice(0, 40)}~${text.slice(-(MAX_NAME_BYTES - 41))}`;
}

/** Keeps letters of any language, numbers and little else. Never hidden, never empty. */
function toFileName(given: string): string {
  const last = given.normalize("NFC").split(/[\\/]/).at(-1) ?? "";
  const plain = last
    .replaceAll(/[^\p{L}\p{N}._ +()-]/gu, "_")
    .replace(/^[. ]+/, "")
    .trimEnd();
  return plain === "" ? "file" : shorten(plain);
}

/** Keeps the ending, which says what the file is. */
function shorten(name: string): string {
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
  const ending = /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0] ?? "";
  let stem = name.slice(0, MAX_NAME_BYTES - ending.length);
  while (Buffer.byteLength(stem) > MAX_NAME_BYTES - ending.length) stem = stem.slice(0, -1);
  return stem.toWellFormed() + ending;
}

/** Some file systems do not tell capitals apart. */
function makeUnique(name: string, taken: ReadonlySet<string>): string {
  const dot = name.lastIndexOf(".");
  const [stem, ending] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ""];
  let unique = name;
  for (let n = 2; taken.has(unique.toLowerCase()); n += 1) unique = `${stem}-${n}${ending}`;
  return unique;
}

/** Masks secrets in texts. Other content is kept as it is. */
function maskText(content: Uint8Array, mask: (text: string) => string): Uint8Array | string {
  const text = decodeUtf8(content, "keep");
  const masked = text === undefined ? undefined : mask(text);
  return masked === undefined || masked === text ? content : masked;
}
