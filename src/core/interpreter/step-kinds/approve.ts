import type { ApprovalAnswered, ApprovalAsked } from "../../history/events.ts";
import type { Instance } from "../../history/run-state.ts";
import { concludeInstance, failInstance, succeedInstance } from "../conclude.ts";
import { startTimer, stopTimer, timerOf } from "../timers.ts";
import type { Turn } from "../turn.ts";

export function applyApprovalAsked(turn: Turn, event: ApprovalAsked): void {
  const instance = turn.state.active.get(event.path);
  if (instance?.phase !== "binding" || instance.step.step.kind !== "approve") return;
  instance.phase = "approval";
  instance.askedSeq = turn.seq;
  turn.state.approvalsOpen += 1;
  const { approvalTimeoutMs } = instance.step.step;
  if (approvalTimeoutMs !== undefined)
    startTimer(turn, timerOf(instance, "approval"), turn.state.now + approvalTimeoutMs);
}

/** The first answer in the journal wins; the host tells later ones who was first. */
export function applyApprovalAnswered(turn: Turn, event: ApprovalAnswered): void {
  const instance = turn.state.active.get(event.path);
  if (instance?.phase !== "approval") return;
  closeApproval(turn, instance);
  turn.state.answers.set(event.path, { answer: event.answer, by: event.by, at: event.at });
  switch (event.answer) {
    case "approve":
      return succeedInstance(turn, instance, event.edited === true ? turn.seq : instance.askedSeq);
    case "skip":
      return concludeInstance(turn, instance, { status: "skipped" });
    case "reject": {
      const who = event.by === undefined ? "" : ` by ${event.by}`;
      const why = event.comment === undefined ? "" : `: ${event.comment}`;
      const failure = { code: "APPROVAL_REJECTED", message: `Rejected${who}${why}`, seq: 0 };
      return failInstance(turn, instance, failure, { mayRetry: false });
    }
  }
}

export function timeOutApproval(turn: Turn, instance: Instance): void {
  if (instance.phase !== "approval" || instance.step.step.kind !== "approve") return;
  closeApproval(turn, instance);
  if (instance.step.step.onApprovalTimeout === "skip") return concludeInstance(turn, instance, { status: "skipped" });
  const failure = { code: "APPROVAL_TIMED_OUT", message: `Nobody answered "${instance.path}" in time.`, seq: 0 };
  failInstance(turn, instance, failure, { mayRetry: false });
}

export function closeApproval(turn: Turn, instance: Instance): void {
  turn.state.approvalsOpen -= 1;
  instance.phase = "binding";
  stopTimer(turn, timerOf(instance, "approval"));
}
