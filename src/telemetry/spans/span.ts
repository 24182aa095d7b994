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
  /** Absent: nothing went wrong. */
  readonly error?: string | undefined;
}

export interface SpanAttributes {
  readonly [name: string]: string | number | boolean | undefined;
}
