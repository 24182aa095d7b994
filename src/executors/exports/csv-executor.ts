import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { Executor, Failed, Outcome } from "../../ports/executor.ts";
import { toFailed } from "../output/failure.ts";
import { AdditionQueue } from "./addition-queue.ts";
import { type Rows, toRows } from "./csv-rows.ts";
import { guardFormula, toCsv, toFields } from "./csv-text.ts";
import { readPlace, refusePath, toOwnPath, toSharedPath, toWriteFailure } from "./export-file.ts";

export interface ExportOptions {
  /** Takes secrets out of a text. */
  mask(text: string): string;
}

/**
 * Writes a step's output as CSV into the storage of whoever's run it is, and keeps the run's own rows as its artifact. A
 * task that is done again after a crash leaves the same file: what was added is not added twice.
 */
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
