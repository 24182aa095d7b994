import { isStorageFailure } from "../../core/errors/is-storage-failure.ts";
import { isPawlError } from "../../core/errors/pawl-error.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { refuseUngranted } from "../../core/trust/check-grant.ts";
import { grantOf } from "../../core/trust/grant.ts";
import type { Failed, Task } from "../../ports/executor.ts";
import { toFailed } from "../output/failure.ts";

/** The place of a file, as the step's input names it. */
export interface ExportPlace {
  readonly directory: string;
  readonly filename: string;
}

export function readPlace(input: JsonObject): ExportPlace {
  const { directory, filename, step } = input;
  return { directory: toText(directory) ?? "", filename: toText(filename) ?? toText(step) ?? "file" };
}

/** One file for all runs. The storage refuses a path that leaves it. */
export function toSharedPath(place: ExportPlace, ending: string): string {
  return toPath(place, ending, "");
}

/** A file of this run alone, and of this call where a workflow is called more than once. */
export function toOwnPath(place: ExportPlace, ending: string, { runId, path }: Pick<Task, "runId" | "path">): string {
  const calls = path.split("/").slice(0, -1).join("-");
  const call = calls.replace(/[^A-Za-z0-9_]+/g, "-").replace(/^-|-$/g, "");
  const isNamed = `${place.directory}/${place.filename}`.includes(runId);
  return toPath(place, ending, [isNamed ? "" : `-${runId}`, call === "" ? "" : `-${call}`].join(""));
}

function toPath({ directory, filename }: ExportPlace, ending: string, suffix: string): string {
  const folders = directory
    .trim()
    .split("/")
    .filter((part, index) => part !== "." || index > 0);
  while (folders.at(-1) === "") folders.pop();
  const stem = filename.toLowerCase().endsWith(ending) ? filename.slice(0, -ending.length) : filename;
  return [...folders, `${stem}${suffix}${ending}`].join("/");
}

function toText(value: Json | undefined): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

/** Throws `NOT_GRANTED` where the definition was not granted this path. */
export function refusePath(path: string, { settings }: Pick<Task, "settings">): void {
  refuseUngranted(grantOf(settings), "storage", path);
}

/** A file could not be written. A storage may work again; a wrong path stays wrong. A defect goes on as one. */
export function toWriteFailure(error: unknown): Failed {
  if (!isPawlError(error)) throw error;
  const { code, message } = error;
  const retryable = isStorageFailure(error) || code === "STORAGE_CHANGED";
  return toFailed(code, { message, retryable, effect: "unknown", costMicro: 0 });
}
