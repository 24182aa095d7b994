import {
  type ApprovalAnswered,
  type ApprovalAsked,
  type ApprovalCounted,
  answeredBy,
  type QuestionAsked,
} from "../../history/events.ts";
import type { Instance } from "../../history/run-state.ts";
import { nameOf } from "../../trust/approvers.ts";
import { stopForBudget } from "../attempt/admission.ts";
import { concludeInstance, failInstance, succeedInstance } from "../attempt/conclude.ts";
import { bookAttempt, bookLate } from "../attempt/costs.ts";
import { currentAttempt } from "../attempt/outcomes.ts";
import { asksForBudget, isBudgetKey } from "../budget/use-limits.ts";
import { leavePlace, returnToPlace, takePlace } from "../flow/window.ts";
import { startTimer, stopTimersOf, timerOf } from "../timers.ts";
import type { Turn } from "../turn.ts";

export function applyApprovalAsked(turn: Turn, event: ApprovalAsked): void {
  const instance = turn.state.active.get(event.path);
  if (instance?.phase !== "binding" || instance.step.step.kind !== "approve") return;
  instance.phase = "approval";
  instance.askedSeq = turn.seq;
  turn.state.approvalsOpen += 1;
  const { approvalTimeoutMs, reminder, escalation } = instance.step.step;
  const waits = { approval: approvalTimeoutMs, remind: reminder?.afterMs, escalate: escalation?.afterMs };
  for (const purpose of ["approval", "remind", "escalate"] as const) {
    const ms = waits[purpose];
    if (ms !== undefined) startTimer(turn, timerOf(instance, purpose), turn.state.now + ms);
  }
}

/** The next one is counted from this one, which may be late: after a pause there is one, and not all that were missed. */
export function remindOfApproval(turn: Turn, instance: Instance): void {
  const { step } = instance.step;
  if (step.kind !== "approve" || step.reminder === undefined) return;
  const { afterMs, everyMs = afterMs, times } = step.reminder;
  instance.reminded += 1;
  if (instance.reminded < times) startTimer(turn, timerOf(instance, "remind"), turn.state.now + everyMs);
}

/** A task asks a person. Its attempt is over and paid for, and counts neither as a failure nor as a crash. */
export function applyQuestionAsked(turn: Turn, event: QuestionAsked): void {
  const instance = currentAttempt(turn, event);
  if (instance?.phase !== "dispatched") return bookLate(turn, event);
  bookAttempt(turn, instance, event);
  // The attempt after the answer is the rest of this one.
  turn.state.budget.tries -= 1;
  // Nothing starts in the scope any more, so no answer could make the task go on.
  if (instance.scope.phase !== "open") return concludeInstance(turn, instance, { status: "cancelled" });
  instance.phase = "approval";
  instance.askedSeq = turn.seq;
  turn.state.approvalsOpen += 1;
  if (isBudgetKey(event.key)) turn.state.budget.question = instance.path;
  leavePlace(turn, instance, { key: event.key, allowEdit: event.allowEdit === true });
}

/** The first answer in the journal wins. The host refuses later ones with the name of the first. */
export function applyApprovalAnswered(turn: Turn, event: ApprovalAnswered): void {
  const instance = turn.state.active.get(event.path);
  if (instance?.phase !== "approval") return;
  noteAnswer(turn, instance, event);
  const { question } = instance;
  endApproval(turn, instance);
  if (asksForBudget(instance) && event.answer !== "approve") return stopUnraised(turn, instance, event);
  if (question !== undefined) return goOnWithAnswer(turn, instance, question.key);
  switch (event.answer) {
    case "approve":
      return succeedInstance(turn, instance, event.edited === true ? turn.seq : instance.askedSeq);
    case "skip":
      return concludeInstance(turn, instance, { status: "skipped" });
    case "reject": {
      const failure = { code: "APPROVAL_REJECTED", message: `Rejected${saidIn(event, "")}`, seq: 0 };
      return failInstance(turn, instance, failure, { mayRetry: false });
    }
  }
}

function saidIn({ comment, ...event }: ApprovalAnswered, end: string): string {
  const by = answeredBy(event);
  return `${by === undefined ? "" : ` by ${by}`}${comment === undefined ? end : `: ${comment}`}`;
}

export function applyApprovalCounted({ state }: Turn, { path, who }: ApprovalCounted): void {
  const instance = state.active.get(path);
  if (instance?.phase === "approval") instance.approvedBy = [...(instance.approvedBy ?? []), nameOf(who)];
}

export function timeOutApproval(turn: Turn, instance: Instance): void {
  if (instance.phase !== "approval" || instance.step.step.kind !== "approve") return;
  closeApproval(turn, instance);
  if (instance.step.step.onApprovalTimeout === "skip") return concludeInstance(turn, instance, { status: "skipped" });
  const failure = { code: "APPROVAL_TIMED_OUT", message: `Nobody answered "${instance.path}" in time.`, seq: 0 };
  failInstance(turn, instance, failure, { mayRetry: false });
}

export function closeApproval(turn: Turn, instance: Instance): void {
  endApproval(turn, instance);
  takePlace(instance);
}

/** The limit was not raised. */
function stopUnraised(turn: Turn, instance: Instance, event: ApprovalAnswered): void {
  takePlace(instance);
  turn.state.budget.exhausted ??= `The limit was not raised${saidIn(event, ".")}`;
  stopForBudget(turn, instance);
}

function endApproval(turn: Turn, instance: Instance): void {
  if (asksForBudget(instance)) {
    turn.state.budget.question = undefined;
    turn.hasRoom = true;
  }
  turn.state.approvalsOpen -= 1;
  instance.phase = "binding";
  instance.approvedBy = undefined;
  instance.reminded = 0;
  instance.isEscalated = false;
  stopTimersOf(turn, instance);
}

function noteAnswer({ state }: Turn, { path, askedSeq }: Instance, event: ApprovalAnswered): void {
  const noted = { askedSeq, answer: event.answer, by: answeredBy(event) };
  const before = state.answers.get(path);
  if (before === undefined) state.answers.set(path, [noted]);
  else before.push(noted);
}

/** The task decides what follows from the answer. The same generation goes on, with all its records. */
function goOnWithAnswer(turn: Turn, instance: Instance, key: string): void {
  instance.records ??= new Map();
  instance.records.set(key, turn.seq);
  returnToPlace(turn, instance);
}
