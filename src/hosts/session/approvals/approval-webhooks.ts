import { writeExact } from "../../../core/exact-json.ts";
import { resolveEnv } from "../../../core/expressions/resolve-env.ts";
import type { Instance } from "../../../core/history/run-state.ts";
import { readTimer, timerOf } from "../../../core/interpreter/timers.ts";
import { termsOf } from "../../../core/trust/approvers.ts";
import type { LiveRun } from "../live-run.ts";

/** The body of a question in the outbox. The rest stands in the event that asked. */
export interface ToldApproval {
  readonly event: "approval.requested" | Nudge;
  readonly url: string;
  /** The event that asked. */
  readonly asked: number;
  readonly timesOutAt?: number;
  /** Of what comes later: when, how often was reminded by then, and who was told after those. */
  readonly at?: number;
  readonly reminded?: number;
  readonly escalatedTo?: readonly string[] | null;
}

export type Nudge = "approval.reminded" | "approval.escalated";

/** What a timer that has fired tells of an open question. */
export function nudgeOf(timer: string): Nudge | undefined {
  const { purpose } = readTimer(timer);
  return purpose === "remind" ? "approval.reminded" : purpose === "escalate" ? "approval.escalated" : undefined;
}

/** Called right after the timer was applied, so that its webhooks are in the commit that counts it. */
export function queueNudge(run: LiveRun, timer: string, env: (name: string) => string | undefined): void {
  const nudge = nudgeOf(timer);
  const instance = run.state.active.get(readTimer(timer).path);
  if (nudge && instance) queueApprovalWebhooks(run, instance, { asked: instance.askedSeq, env, nudge });
}

/**
 * Queues the webhooks of a question: `callback_url` and `on_approval.webhook`. Called right after the question was applied, so
 * that they are in the commit that opens it.
 */
export function queueApprovalWebhooks(
  run: LiveRun,
  instance: Instance,
  { asked, env, nudge }: { readonly asked: number; env(name: string): string | undefined; readonly nudge?: Nudge },
): void {
  // The run may have been cancelled while the question was put together.
  if (instance.phase !== "approval" || instance.askedSeq !== asked) return;
  const { approvalWebhook } = run.state.graph.graph.ending;
  const callback = run.options["callback_url"];
  const urls = [typeof callback === "string" ? callback : undefined, approvalWebhook];
  const timesOutAt = run.state.timers.get(timerOf(instance, "approval"));
  const { reminded, escalatedTo } = termsOf(instance, run.options);
  const more = nudge && { event: nudge, at: run.state.now, reminded, escalatedTo };
  for (const url of new Set(urls)) {
    if (url === undefined || resolveEnv(url, env).trim() === "") continue;
    const body: ToldApproval = { event: "approval.requested", url, asked, timesOutAt, ...more };
    run.addOutbox([{ kind: "webhook", body: writeExact(body) }]);
  }
}
