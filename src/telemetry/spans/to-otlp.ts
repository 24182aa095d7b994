import type { Json, JsonObject } from "../../core/json.ts";

export interface Span {
  /** Hex, 32 and 16 digits. */
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string | undefined;
  readonly name: string;
  readonly kind: "internal" | "client" | "server";
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: SpanAttributes;
  /** Absent if nothing went wrong. */
  readonly error?: string | undefined;
}

export interface SpanAttributes {
  readonly [name: string]: string | number | boolean | undefined;
}

const KINDS = { internal: 1, server: 2, client: 3 } as const;
const ERROR = 2;

/** An `ExportTraceServiceRequest` of OTLP in its JSON form: ids in hex, 64-bit numbers as texts. */
export function toOtlp(
  spans: readonly Span[],
  { serviceName, version }: { readonly serviceName: string; readonly version: string },
): JsonObject {
  const resource = { attributes: toAttributes({ "service.name": serviceName, "service.version": version }) };
  return {
    resourceSpans: [{ resource, scopeSpans: [{ scope: { name: "pawl", version }, spans: spans.map(toSpan) }] }],
  };
}

function toSpan({ kind, startedAt, endedAt, attributes, error, parentSpanId, ...names }: Span): JsonObject {
  return {
    ...names,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    kind: KINDS[kind],
    startTimeUnixNano: toNanos(startedAt),
    // Clocks are set back now and then, and some collectors refuse an end before its begin.
    endTimeUnixNano: toNanos(Math.max(startedAt, endedAt)),
    attributes: toAttributes(attributes),
    status: error === undefined ? {} : { code: ERROR, message: error },
  };
}

function toNanos(ms: number): string {
  return `${BigInt(Math.round(ms)) * 1_000_000n}`;
}

function toAttributes(attributes: SpanAttributes): Json {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: toValue(value) }],
  );
}

function toValue(value: string | number | boolean): JsonObject {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
