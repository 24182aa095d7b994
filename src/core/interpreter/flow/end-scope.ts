import { type Failure, type Handle, type Instance, type Scope, SINGLE_ITEM } from "../../history/run-state.ts";
import { concludeInstance, failInstance, succeedInstance } from "../attempt/conclude.ts";
import { endRun } from "../run/end-run.ts";
import { type CallEnd, isReported, reportOn } from "../step-kinds/report-call.ts";
import { stopTimer, timerOf } from "../timers.ts";
import type { Turn } from "../turn.ts";
import { forgetLosses, markLosses, passLossesOn } from "./losses.ts";

/** A pass through a flow is over: the instance around it goes on, or the run ends. */
export function endScope(turn: Turn, scope: Scope): void {
  if (scope.phase === "ended" || scope.live.size > 0) return;
  const hasSucceeded = scope.phase === "open" || scope.isWon === true;
  scope.phase = "ended";
  const { parent } = scope;
  if (parent === undefined) return endRun(turn, scope);
  if (parent.child !== scope) return;
  parent.child = undefined;
  if (scope.role === "finally") {
    passLossesOn(turn, scope);
    return endFinally(turn, parent, scope.failure);
  }
  if (scope.role === "body") parent.tried = scope;
  stopTimer(turn, timerOf(parent, "timeout"));
  if (!hasSucceeded) return endFailed(turn, parent, scope);
  passLossesOn(turn, scope);
  const output = resultOf(scope);
  const end: CallEnd = { scope, output, failure: undefined, now: turn.state.now };
  succeedInstance(turn, parent, isReported(parent) ? reportOn(parent, end) : output);
}

function endFailed(turn: Turn, parent: Instance, scope: Scope): void {
  const failure = timeOutOf(parent, scope) ?? scope.failure;
  const before = markLosses(turn, parent.scope);
  // Before the instance ends: a transition may answer for all of it at once.
  passLossesOn(turn, scope);
  if (failure === undefined) concludeInstance(turn, parent, { status: "cancelled" });
  else failInstance(turn, parent, failure, { mayRetry: scope.role === "body", body: scope });
  const isAnswered = parent.phase === "backoff" || parent.phase === "catch" || isReported(parent);
  const isMended = scope.role === "body" && isAnswered;
  if (isMended) forgetLosses(turn, parent.scope, before);
}

/** A failing `finally` spoils a success; a failure stays the one that it was. */
function endFinally(turn: Turn, parent: Instance, failure: Failure | undefined): void {
  const outcome = parent.outcome ?? { status: "cancelled" };
  parent.outcome = undefined;
  const spoiled = failure !== undefined && outcome.status === "succeeded";
  concludeInstance(turn, parent, spoiled ? { status: "failed", failure, known: undefined } : outcome);
}

function timeOutOf(parent: Instance, scope: Scope): Failure | undefined {
  // Set while the body runs only where its own time was up.
  return scope.role === "body" ? parent.failure : undefined;
}

/** A flow's value: what a step shaped, that of the step named as its result, or the outputs by step id. */
export function resultOf(scope: Scope): Handle {
  if (scope.result !== undefined) return scope.result;
  const { flow } = scope.flow;
  const wanted = flow.kind === "dag" ? flow.result : undefined;
  if (wanted !== undefined) return outputOf(scope, scope.flow.indexOf.get(wanted) ?? -1);
  return {
    kind: "steps",
    steps: scope.flow.steps
      .filter(({ step }) => step.isAside !== true)
      .map(({ step, index }) => [step.id, outputOf(scope, index)] as const),
  };
}

function outputOf(scope: Scope, step: number): Handle {
  const state = scope.steps[step];
  if (state === undefined) return 0;
  return state.items === SINGLE_ITEM ? (state.handle[0] ?? 0) : { kind: "list", handles: state.handle };
}
