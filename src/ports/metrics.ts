import type { RunObserver } from "./run-observer.ts";

export interface Metrics extends RunObserver {
  readonly contentType: string;
  /** In Prometheus' text format. */
  text(): Promise<string>;
  /** `route` is a pattern, never a path. */
  countRequest(request: {
    readonly method: string;
    readonly route: string;
    readonly status: number;
    readonly durationMs: number;
  }): void;
}
