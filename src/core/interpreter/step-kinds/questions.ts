import type { QuestionAsked } from "../../history/events.ts";
import type { Instance } from "../../history/run-state.ts";
import { concludeInstance } from "../attempt/conclude.ts";
import { bookAttempt, bookLate } from "../attempt/costs.ts";
import { currentAttempt } from "../attempt/outcomes.ts";
import { isBudgetKey } from "../budget/budget-question.ts";
import { leavePlace, returnToPlace } from "../flow/window.ts";
import type { Turn } from "../turn.ts";

/** A task asks a person. Its attempt is over and paid for; neither a failure nor a crash is put down to it. */
export function applyQuestionAsked(turn: Turn, event: QuestionAsked): void {
  const instance = currentAttempt(turn, event);
  if (instance?.phase !== "dispatched") return bookLate(turn, event);
  bookAttempt(turn, instance, event);
  // The attempt after the answer is the rest of this one.
  turn.state.budget.tries -= 1;
  // Nothing starts here any more, so that no answer could make it go on.
  if (instance.scope.phase !== "open") return concludeInstance(turn, instance, { status: "cancelled" });
  instance.phase = "approval";
  instance.askedSeq = turn.seq;
  turn.state.approvalsOpen += 1;
  if (isBudgetKey(event.key)) turn.state.budget.question = instance.path;
  leavePlace(turn, instance, { key: event.key, allowEdit: event.allowEdit === true });
}

/** Whatever the answer is: what follows from it is the task's to say. The same generation goes on, with all its records. */
export function goOnWithAnswer(turn: Turn, instance: Instance, key: string): void {
  instance.records ??= new Map();
  instance.records.set(key, turn.seq);
  returnToPlace(turn, instance);
}
