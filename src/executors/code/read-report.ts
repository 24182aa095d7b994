import { isJsonObject, type Json } from "../../core/json.ts";
import { parseJson } from "../../core/parse-json.ts";

/** The report of a runner on its own channel. */
export type Report =
  | { readonly kind: "returned"; readonly result: Json }
  /** The returned value is no JSON. */
  | { readonly kind: "invalid"; readonly message: string }
  | { readonly kind: "raised"; readonly exception: Exception }
  /** The script cannot be read; nothing of it has run. */
  | { readonly kind: "unreadable"; readonly exception: Exception }
  /** The process ended before the function did. */
  | { readonly kind: "silent"; readonly hasStarted: boolean };

export interface Exception {
  readonly type: string;
  readonly message: string;
  readonly traceback: string;
  readonly code?: string;
}

const STARTED = "started\n";

export function readReport(channel: Buffer): Report {
  const text = channel.toString("utf8");
  const hasStarted = text.startsWith(STARTED);
  const said = hasStarted ? text.slice(STARTED.length) : text;
  if (said === "") return { kind: "silent", hasStarted };
  const report = parseJson(said);
  if (!isJsonObject(report)) return { kind: "invalid", message: "the result is nested too deeply, or cut off" };
  const { ok, result, message } = report;
  if (ok === true) return { kind: "returned", result: result ?? null };
  if (report["kind"] === "invalid") return { kind: "invalid", message: String(message) };
  return { kind: report["kind"] === "syntax" ? "unreadable" : "raised", exception: toException(report) };
}

function toException({ type, message, traceback, code }: { readonly [key: string]: Json }): Exception {
  return {
    type: String(type),
    message: String(message),
    traceback: String(traceback),
    ...(typeof code === "string" ? { code } : {}),
  };
}
