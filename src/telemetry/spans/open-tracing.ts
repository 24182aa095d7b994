import type { RunObserver } from "../../ports/run-observer.ts";
import { OtlpExporter } from "./otlp-exporter.ts";
import { RunSpans } from "./run-spans.ts";

export interface TracingOptions {
  /** The address of a collector. Spans go to `/v1/traces` below it. */
  readonly endpoint: string;
  /** `name=value`, separated by commas, values percent-encoded. */
  readonly headers: string;
  readonly serviceName: string;
  readonly version: string;
  mask(text: string): string;
  /** A line for people. */
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
    return name === undefined || value === undefined ? [] : [[name.toLowerCase(), decode(value.trim())] as const];
  });
  return Object.fromEntries(pairs);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
