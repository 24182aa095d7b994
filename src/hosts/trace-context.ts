import { hash } from "node:crypto";
import { writeExact } from "../core/exact-json.ts";
import type { JsonObject } from "../core/json.ts";
import type { RunTrace } from "../ports/run-observer.ts";

/** A run's options keep the trace context of its request under this name. */
export const TRACE_OPTION = "traceparent";

/** W3C trace context. */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Undefined: the text is not a trace context, and is ignored. */
export function readTraceParent(text: string | undefined): string | undefined {
  return text !== undefined && TRACEPARENT.test(text) ? text : undefined;
}

/** Continues the trace of the request. Without one, the trace has the run's id. */
export function traceOf(runId: string, options: JsonObject): RunTrace {
  const given = options[TRACE_OPTION];
  const [, asked, parentSpanId] = TRACEPARENT.exec(typeof given === "string" ? given : "") ?? [];
  const own = runId.replaceAll("-", "").toLowerCase();
  const traceId = asked ?? (/^(?!0{32})[0-9a-f]{32}$/.test(own) ? own : hash("sha256", `trace ${runId}`).slice(0, 32));
  return {
    traceId,
    parentSpanId,
    spanId: spanIdOf(runId),
    attemptSpanId: (path, attempt) => spanIdOf(runId, path, attempt),
  };
}

/** The parent of the work for an attempt: the attempt's own span if spans are exported, else the span of the request. */
export function traceParentOf(
  { runId, options }: { readonly runId: string; readonly options: JsonObject },
  { tracing, path, attempt }: { readonly tracing: boolean; readonly path?: string; readonly attempt?: number },
): string | undefined {
  const given = options[TRACE_OPTION];
  const asked = readTraceParent(typeof given === "string" ? given : undefined);
  if (!tracing) return asked;
  const trace = traceOf(runId, options);
  const spanId = path === undefined ? trace.spanId : trace.attemptSpanId(path, attempt ?? 1);
  return `00-${trace.traceId}-${spanId}-${asked?.slice(-2) ?? "01"}`;
}

function spanIdOf(...names: readonly (string | number)[]): string {
  return hash("sha256", writeExact(names)).slice(0, 16);
}
