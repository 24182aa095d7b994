import { stepPath } from "../../graph/step-path.ts";
import { type Failure, type Instance, type ItemRange, SINGLE_ITEM, type StepState } from "../../history/run-state.ts";
import { Queue } from "../../queue.ts";
import { admitTask } from "../attempt/admission.ts";
import { succeedInstance } from "../attempt/conclude.ts";
import { evaluateControl } from "../control-scope.ts";
import { beginCall } from "../step-kinds/call.ts";
import { beginFlow } from "../step-kinds/flow.ts";
import { beginWait } from "../step-kinds/wait.ts";
import { LATER_TIMER, startTimer } from "../timers.ts";
import { beginBinding, type Turn } from "../turn.ts";
import { noteFailure } from "./losses.ts";
import { type Item, settleItem } from "./settle.ts";
import { fillPlace, hasPlace } from "./window.ts";

/** Starts instances whose needs are met, or queues them behind their window. What is too much for one turn is put off. */
export function startItems(turn: Turn, { scope, step, from, to }: ItemRange): void {
  for (let item = from; item < to; item += 1) {
    const state = scope.steps[step];
    if (state === undefined || scope.phase !== "open" || state.failure !== undefined) return;
    if (item !== SINGLE_ITEM && !hasPlace(scope, step)) {
      state.queue ??= new Queue();
      state.queue.push(item);
    } else if (isFull(turn)) {
      turn.state.later.push({ scope, step, from: item, to, visit: state.visit });
      if (!turn.state.timers.has(LATER_TIMER)) startTimer(turn, LATER_TIMER, turn.state.now);
      return;
    } else startItem(turn, { scope, step, item }, state);
  }
}

function startItem(turn: Turn, { scope, step, item }: Item, state: StepState): void {
  const indexed = scope.flow.steps[step];
  if (indexed === undefined) return;
  turn.begun += 1;
  const { when } = indexed.step;
  const begins =
    when === undefined ||
    turn.decisions.evaluate(() => evaluateControl(turn.state, { scope, step, item }, when) === true);
  const path = stepPath(scope.path, indexed.escapedId, state.visit, item);
  if (when !== undefined && typeof begins === "boolean") turn.state.noteWay?.(path, begins);
  if (begins !== true) {
    if (begins === false) settleItem(turn, { scope, step, item }, { status: "skipped" });
    else failItem(turn, { scope, step, item }, begins);
    fillPlace(turn, scope, step);
    return;
  }
  const instance: Instance = {
    path,
    scope,
    step: indexed,
    item,
    visit: state.visit,
    phase: "blocked",
    attempt: 0,
    failures: 0,
    deaths: [],
    deathsApart: 0,
    uncheckedDeaths: 0,
    begun: false,
    flight: 0,
    generation: 1,
    costMicro: 0,
    attemptCostMicro: 0,
    callsSent: 0,
    lostMicro: 0,
    startedAt: 0,
    child: undefined,
    tried: undefined,
    failure: undefined,
    outcome: undefined,
    askedSeq: 0,
    approvedBy: undefined,
    reminded: 0,
    isEscalated: false,
    question: undefined,
    records: undefined,
    signal: undefined,
  };
  state.running += 1;
  state.status[item < 0 ? 0 : item] = "running";
  turn.state.active.set(instance.path, instance);
  scope.live.add(instance);
  beginInstance(turn, instance);
}

function isFull(turn: Turn): boolean {
  turn.isFull ||= turn.decisions.stop(turn.begun, turn.state.mostBegun);
  return turn.isFull;
}

/** Begins the first of those that were put off. */
export function beginLater(turn: Turn): void {
  const { later, mostBegun, now } = turn.state;
  let left = turn.decisions.decide(() => mostBegun);
  for (let range = later.peek(); range !== undefined && left > 0; range = later.peek()) {
    later.shift();
    left -= range.to - range.from;
    // A step that has failed may have been visited again.
    if (range.scope.steps[range.step]?.visit === range.visit) turn.work.push({ type: "startItems", ...range });
  }
  if (later.size > 0) startTimer(turn, LATER_TIMER, now);
}

/** Its condition could not be decided. */
function failItem(turn: Turn, at: Item, failure: Failure): void {
  const { scope, step, item } = at;
  const path = stepPath(scope.path, scope.flow.steps[step]?.escapedId ?? "", scope.steps[step]?.visit ?? 0, item);
  noteFailure(turn, scope, { path, code: failure.code, message: failure.message });
  settleItem(turn, at, { status: "failed", failure, known: undefined });
}

export function beginInstance(turn: Turn, instance: Instance): void {
  const { step } = instance.step;
  switch (step.kind) {
    case "task":
      return admitTask(turn, instance);
    case "flow":
      return beginFlow(turn, instance);
    case "call":
      return beginCall(turn, instance);
    case "wait":
      return beginWait(turn, instance, step.wait);
    case "approve":
      return beginBinding(turn, instance, "askApproval");
    case "set":
      if (step.value !== undefined) return beginBinding(turn, instance, "evaluateStep");
      instance.attempt += 1;
      return succeedInstance(turn, instance, 0);
    case "respond":
      return beginBinding(turn, instance, "evaluateStep");
  }
}
