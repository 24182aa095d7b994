import { loadOperations } from "../../../operations/operations.ts";
import type { Endpoint } from "./endpoint.ts";
import { serveEventStream } from "./events/stream-events.ts";
import { serveRunStream } from "./runs/stream-run.ts";
import { type ServedByHand, toEndpoints } from "./serve-operation.ts";
import { serveHealth } from "./system/health.ts";
import { isMetricsOpen, serveMetrics } from "./system/metrics.ts";

/** Answers that are no JSON envelope of an output. */
const BY_HAND: Readonly<Record<string, ServedByHand>> = {
  streamRun: { serve: serveRunStream },
  streamEvents: { serve: serveEventStream },
  getHealth: { serve: serveHealth },
  readMetrics: { serve: serveMetrics, isOpen: isMetricsOpen },
};

/** Every route of the service, in the order of its document. */
export const ENDPOINTS: readonly Endpoint[] = (await loadOperations())
  .flatMap((operation) => toEndpoints(operation, BY_HAND[operation.id]))
  // The first path that fits answers: a brace sorts behind every letter, so `/runs/compare` stands before `/runs/{id}`.
  .sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
