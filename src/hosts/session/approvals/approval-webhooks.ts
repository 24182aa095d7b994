import { writeExact } from "../../../core/exact-json.ts";
import { resolveEnv } from "../../../core/expressions/resolve-env.ts";
import type { Instance } from "../../../core/history/run-state.ts";
import { timerOf } from "../../../core/interpreter/timers.ts";
import type { LiveRun } from "../live-run.ts";

/** The body of a question in the outbox. The rest stands in the event that asked. */
export interface ToldApproval {
  readonly event: "approval.requested";
  readonly url: string;
  /** The event that asked. */
  readonly asked: number;
  readonly timesOutAt?: number;
}

/**
 * Queues the webhooks of a question: `callback_url` and `on_approval.webhook`. Called right after the question was applied, so
 * that they are in the commit that opens it.
 */
export function queueApprovalWebhooks(
  run: LiveRun,
  instance: Instance,
  { asked, env }: { readonly asked: number; env(name: string): string | undefined },
): void {
  // The run may have been cancelled while the question was put together.
  if (instance.phase !== "approval" || instance.askedSeq !== asked) return;
  const { approvalWebhook } = run.state.graph.graph.ending;
  const callback = run.options["callback_url"];
  const urls = [typeof callback === "string" ? callback : undefined, approvalWebhook];
  const timesOutAt = run.state.timers.get(timerOf(instance, "approval"));
  for (const url of new Set(urls)) {
    if (url === undefined || resolveEnv(url, env).trim() === "") continue;
    const body: ToldApproval = { event: "approval.requested", url, asked, timesOutAt };
    run.addOutbox([{ kind: "webhook", body: writeExact(body) }]);
  }
}
