import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { RunNotice } from "../run-host.ts";

/** What other processes are told of a notice. Events they read in the journal, which alone is true: they are told to look. */
export function toRelayed(notice: RunNotice): JsonObject | undefined {
  if (notice.type === "parked") return undefined;
  return notice.type === "event" ? { type: "event" } : { ...notice };
}

/** A notice of another process. Undefined: it is none. `look`: there is an event to be read. */
export function readRelayed({
  type,
  path,
  attempt,
  at,
  event,
  code,
  message,
}: JsonObject): RunNotice | "look" | undefined {
  if (type === "event") return "look";
  if (type === "unstalled") return { type };
  if (type === "stalled") {
    return typeof code === "string" && typeof message === "string" ? { type, code, message } : undefined;
  }
  if (typeof path !== "string" || typeof attempt !== "number") return undefined;
  if (type === "dispatched" && typeof at === "number") return { type, path, attempt, at };
  if (type === "progress" && event !== undefined) return { type, path, attempt, event };
  if (type === "live" && isJsonObject(event)) return { type, path, attempt, event };
  return undefined;
}
