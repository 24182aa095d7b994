import { setTimeout } from "node:timers/promises";
import { isPawlError } from "../../core/errors/pawl-error.ts";
import { writeExact } from "../../core/exact-json.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { Executor, Failed, Outcome } from "../../ports/executor.ts";
import type { FileStorage } from "../../ports/file-storage.ts";
import { toFailed } from "../output/failure.ts";
import { type Added, type Addition, appendRows } from "./append-rows.ts";
import { guardFormula, type Rows, toCsv, toFields, toRows } from "./csv-text.ts";
import { readPlace, refusePath, toOwnPath, toSharedPath, toWriteFailure } from "./export-file.ts";

export interface ExportOptions {
  mask(text: string): string;
}

/** Writes a step's output as CSV into the storage, with the run's own rows as an artifact. A repeated task adds nothing twice. */
export function createCsvExecutor({ mask }: ExportOptions): Executor<Outcome> {
  const queue = new AdditionQueue();
  return {
    recordsInput: false,
    async run(task, signal) {
      const input = isJsonObject(task.input) ? task.input : {};
      const { output = null, rows: field } = input;
      const options = { isFanOut: input["is_fan_out"] === true, field: typeof field === "string" ? field : undefined };
      const rows = toRows(output, options);
      if (rows.rows.length === 0) return succeeded({ path: null, rows: 0, columns: [] }, undefined);
      const keepsFormulas = input["keep_formulas"] === true;
      const text = toText(rows, keepsFormulas);
      const written = { rows: rows.rows.length, columns: rows.columns };
      try {
        if (input["mode"] !== "append") {
          const path = mask(toOwnPath(readPlace(input), ".csv", task));
          refusePath(path, task);
          await task.files.write(path, text);
          return succeeded({ path, ...written }, text);
        }
        const path = mask(toSharedPath(readPlace(input), ".csv"));
        refusePath(path, task);
        const { files, tenantId, idempotencyKey: key } = task;
        const added = await queue.add({ files, tenantId, path }, { key, rows, keepsFormulas }, signal);
        if (added === "stopped") return toStopped(path);
        const { newColumns, columns } = added;
        const more: JsonObject = newColumns.length === 0 ? {} : { new_columns: newColumns };
        return succeeded({ path, ...written, columns, ...more }, text);
      } catch (error) {
        return toWriteFailure(error);
      }
    },
  };
}

function toStopped(path: string): Failed {
  const message = `The attempt was stopped before anything was added to "${path}".`;
  return toFailed("INTERRUPTED", { message, retryable: true, effect: "none" });
}

function toText({ rows, columns }: Rows, keepsFormulas: boolean): string {
  const header = keepsFormulas ? columns : columns.map(guardFormula);
  return toCsv([header, ...rows.map((row) => toFields(row, columns, keepsFormulas))]);
}

function succeeded(output: JsonObject, text: string | undefined): Outcome {
  if (text === undefined) return { status: "succeeded", output, costMicro: 0 };
  const name = String(output["path"]).split("/").at(-1) ?? "rows.csv";
  return { status: "succeeded", output, costMicro: 0, files: [{ name, content: Buffer.from(text) }] };
}

interface SharedFile {
  readonly files: FileStorage;
  /** The tenant that the file belongs to: tenants have paths of their own. */
  readonly tenantId: string | undefined;
  readonly path: string;
}

interface Waiting {
  readonly addition: Addition;
  readonly signal: AbortSignal;
  resolve(added: Added | "stopped"): void;
  reject(error: unknown): void;
}

const MAX_AT_ONCE = 200;
const MAX_TRIES = 20;
const PAUSE_MS = 100;

/** Additions to one file follow each other. Those that come meanwhile are added together, so that a burst waits for a few writes only. */
class AdditionQueue {
  readonly #waiting = new Map<string, Waiting[]>();

  /** "stopped": `signal` has aborted before anything was added. */
  add(file: SharedFile, addition: Addition, signal: AbortSignal): Promise<Added | "stopped"> {
    const { promise, resolve, reject } = Promise.withResolvers<Added | "stopped">();
    const one = { addition, signal, resolve, reject };
    const name = writeExact([file.tenantId ?? null, file.path]);
    const others = this.#waiting.get(name);
    if (others !== undefined) others.push(one);
    else {
      const waiting = [one];
      this.#waiting.set(name, waiting);
      void this.#addAll(file, name, waiting);
    }
    return promise;
  }

  async #addAll(file: SharedFile, name: string, waiting: Waiting[]): Promise<void> {
    // Additions of the same turn are made together.
    await Promise.resolve();
    while (waiting.length > 0) await addTogether(file, waiting.splice(0, MAX_AT_ONCE));
    this.#waiting.delete(name);
  }
}

async function addTogether(file: SharedFile, batch: readonly Waiting[]): Promise<void> {
  const wanted = batch.filter(({ signal }) => !signal.aborted);
  for (const { signal, resolve } of batch) if (signal.aborted) resolve("stopped");
  if (wanted.length === 0) return;
  try {
    const additions = wanted.map(({ addition }) => addition);
    const refused = new Set<string>();
    const added = await untilUnchanged(() => appendRows(file.files, file.path, additions, refused));
    for (const [index, one] of added.entries()) wanted[index]?.resolve(one);
  } catch (error) {
    const [only] = wanted;
    if (wanted.length === 1) only?.reject(error);
    else if (isPawlError(error) && error.code === "CSV_BROKEN") await addOneByOne(file, wanted);
    else for (const { reject } of wanted) reject(error);
  }
}

/** Other processes may add to the same file, and be faster. */
async function untilUnchanged<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      const isChanged = isPawlError(error) && error.code === "STORAGE_CHANGED";
      if (!isChanged || tries === MAX_TRIES) throw error;
    }
    // Those who disturb one another must not come back at once.
    await setTimeout(Math.random() * PAUSE_MS * tries);
  }
}

/** One addition that cannot be made does not fail the others. */
async function addOneByOne(file: SharedFile, batch: readonly Waiting[]): Promise<void> {
  for (const one of batch) await addTogether(file, [one]);
}
