import { loadOperations } from "../../../operations/operations.ts";
import type { Endpoint } from "./endpoint.ts";
import { serveEventStream } from "./events/stream-events.ts";
import { serveRunStream } from "./runs/stream-run.ts";
import { type ServeByHand, toEndpoints } from "./serve-operation.ts";
import { getHealth } from "./system/health.ts";
import { readMetrics } from "./system/metrics.ts";

const WRITTEN: readonly Endpoint[] = [getHealth, readMetrics];

/** Answers that are streams. */
const BY_HAND: Readonly<Record<string, ServeByHand>> = {
  streamRun: serveRunStream,
  streamEvents: serveEventStream,
};

/** Every route of the service, in the order of its document. */
export const ENDPOINTS: readonly Endpoint[] = [
  ...(await loadOperations()).flatMap((operation) => toEndpoints(operation, BY_HAND)),
  ...WRITTEN,
]
  // The first path that fits answers: a brace sorts behind every letter, so `/runs/compare` stands before `/runs/{id}`.
  .sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
