import type { RunObserver } from "./run-observer.ts";

/** What a server counts of itself. */
export interface Metrics extends RunObserver {
  readonly contentType: string;
  /** As Prometheus reads it. */
  text(): Promise<string>;
  /** `route` is a pattern, never a path. */
  countRequest(request: {
    readonly method: string;
    readonly route: string;
    readonly status: number;
    readonly durationMs: number;
  }): void;
}
