import { SdkError, SdkErrorCode } from "@modelcontextprotocol/server";
import { isPawlError } from "../../../core/errors/pawl-error.ts";
import type { Application } from "../../../operations/application/application.ts";
import { cancelUnfinished } from "../../../operations/runs/cancel-unfinished.ts";
import { followRun } from "../../../operations/runs/follow/follow-run.ts";
import type { CallProgress } from "../progress-teller.ts";
import type { ServiceCall } from "./service-tool.ts";

/**
 * Waits for the end of a run, or until only a person or an event is left, and tells how far it is. A caller who cancels ends
 * the run with the call; one who goes away, or whose patience ends, does not, and neither does a server that stops.
 */
export async function waitForRun(
  app: Application,
  { runId, timeoutSeconds }: { readonly runId: string; readonly timeoutSeconds: number },
  { signal, follow, stopping }: ServiceCall,
): Promise<void> {
  let latest: CallProgress = { done: 0, total: timeoutSeconds, message: "The run begins" };
  const startedAt = performance.now();
  const ended = new Set<string>();
  const tell = follow(() => ({ ...latest, done: Math.round((performance.now() - startedAt) / 1_000) }));
  const patience = AbortSignal.timeout(timeoutSeconds * 1_000);
  await followRun(
    app,
    {
      runId,
      begin: async () => undefined,
      listen(notice) {
        if (notice.type !== "event" || !("path" in notice.event)) return;
        const { type, path } = notice.event;
        if (type === "stepSucceeded" || type === "stepFailed") ended.add(path);
        latest = { ...latest, message: `${ended.size} steps have ended; the latest news is of ${path}` };
        tell();
      },
    },
    AbortSignal.any([signal, patience, stopping]),
  );
  if (signal.aborted && !isDisconnect(signal.reason)) await cancel(app, runId);
}

function isDisconnect(reason: unknown): boolean {
  return reason instanceof SdkError && reason.code === SdkErrorCode.ConnectionClosed;
}

async function cancel(app: Application, runId: string): Promise<void> {
  try {
    await cancelUnfinished(app, runId, { by: "mcp", reason: "The call that waited for it was cancelled." });
  } catch (error) {
    // It has ended in the meantime.
    if (!isPawlError(error) || error.code !== "RUN_FINISHED") throw error;
  }
}
