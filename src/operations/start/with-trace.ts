import type { JsonObject } from "../../core/json.ts";
import { readTraceParent, TRACE_OPTION } from "../../hosts/trace-context.ts";

interface Traceable {
  readonly options?: JsonObject;
}

/** A start that goes on with the trace that its request came with (`traceparent`). What is none is left out as if it had not been sent. */
export function withTrace<Start extends Traceable>(start: Start, sent: string | undefined): Start {
  const traceParent = readTraceParent(sent);
  if (traceParent === undefined) return start;
  return { ...start, options: { ...start.options, [TRACE_OPTION]: traceParent } };
}
