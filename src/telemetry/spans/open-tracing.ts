import { writeExact } from "../../core/exact-json.ts";
import { decodeSegment } from "../../core/graph/path-pattern.ts";
import type { RunObserver } from "../../ports/run-observer.ts";
import { RunSpans } from "./run-spans.ts";
import { type Span, toOtlp } from "./to-otlp.ts";

export interface TracingOptions {
  /** The address of a collector. Spans go to `/v1/traces` below it. */
  readonly endpoint: string;
  /** `name=value`, separated by commas, values percent-encoded. */
  readonly headers: string;
  readonly serviceName: string;
  readonly version: string;
  mask(text: string): string;
  tell(line: string): void;
}

export interface Tracing {
  readonly observer: RunObserver;
  /** Sends the spans that wait, for two seconds at most. */
  close(): Promise<void>;
}

const LAST_MS = 2_000;

/** Sends runs, attempts and calls to a collector as spans. */
export function openTracing({ endpoint, headers, tell, ...options }: TracingOptions): Tracing {
  const base = endpoint.replace(/\/+$/, "");
  const exporter = new OtlpExporter({
    ...options,
    url: base.endsWith("/v1/traces") ? base : `${base}/v1/traces`,
    headers: readHeaders(headers),
    lost: (why) => tell(options.mask(`Spans are lost: ${why}.`)),
  });
  return {
    observer: new RunSpans((span) => exporter.add(span)),
    async close() {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, LAST_MS);
      await Promise.race([exporter.flush(), promise]);
      clearTimeout(timer);
    },
  };
}

function readHeaders(text: string): Record<string, string> {
  const pairs = text.split(",").flatMap((pair) => {
    const [, name, value] = /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*=(.*)$/s.exec(pair) ?? [];
    return name === undefined || value === undefined
      ? []
      : [[name.toLowerCase(), decodeSegment(value.trim()) ?? value.trim()] as const];
  });
  return Object.fromEntries(pairs);
}

interface OtlpOptions {
  /** The address that spans are posted to. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  readonly version: string;
  mask(text: string): string;
  lost(why: string): void;
}

const FLUSH_MS = 1_000;
const MAX_BATCH = 512;
const MAX_WAITING = 4_096;
const TIMEOUT_MS = 10_000;
const MAX_TRIES = 3;
/** A collector answers these when it wants the same again. */
const PASSING: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Sends spans to an OpenTelemetry collector over OTLP/HTTP as JSON, in batches. At most `MAX_WAITING` wait; they are lost after three tries. */
class OtlpExporter {
  readonly #options: OtlpOptions;
  #waiting: Span[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #isLosing = false;

  constructor(options: OtlpOptions) {
    this.#options = options;
  }

  add(span: Span): void {
    if (this.#waiting.length >= MAX_WAITING) {
      this.#lose("more spans come than the collector takes");
      return;
    }
    this.#waiting.push(span);
    if (this.#waiting.length >= MAX_BATCH) void this.flush();
    else this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
  }

  /** Resolves when everything that waits has been sent or given up. Never rejects. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#waiting.length > 0 || this.#sending !== undefined) {
      this.#sending ??= this.#sendAll().finally(() => {
        this.#sending = undefined;
      });
      await this.#sending;
    }
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MAX_BATCH);
      const why = await this.#send(batch);
      if (why === undefined) this.#isLosing = false;
      else this.#lose(why);
    }
  }

  /** Returns why the spans are lost, if they are. */
  async #send(batch: readonly Span[]): Promise<string | undefined> {
    const { url, headers, mask } = this.#options;
    const request: RequestInit = {
      method: "POST",
      body: mask(writeExact(toOtlp(batch, this.#options))),
      headers: { ...headers, "content-type": "application/json" },
      redirect: "error",
    };
    let why = "";
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      try {
        const response = await fetch(url, { ...request, signal: AbortSignal.timeout(TIMEOUT_MS) });
        await response.body?.cancel();
        if (response.ok) return undefined;
        why = `the collector answered ${response.status}`;
        if (!PASSING.has(response.status)) return why;
      } catch (error) {
        const { cause } = error as { readonly cause?: unknown };
        why = `the collector cannot be reached: ${String(cause instanceof Error ? cause.message : error)}`;
      }
    }
    return why;
  }

  #lose(why: string): void {
    if (this.#isLosing) return;
    this.#isLosing = true;
    this.#options.lost(why);
  }
}
