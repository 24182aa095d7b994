import type { Wait } from "../../graph/graph.ts";
import type { SignalReceived, WaitBegun } from "../../history/events.ts";
import type { Instance } from "../../history/run-state.ts";
import { failInstance, succeedInstance } from "../attempt/conclude.ts";
import { startTimer, stopTimer, timerOf } from "../timers.ts";
import { beginBinding, type Turn } from "../turn.ts";

/** Literals are decided here. The host binds what must be computed. */
export function beginWait(turn: Turn, instance: Instance, wait: Wait): void {
  if (wait.for === "duration" && wait.durationMs.op === "literal" && typeof wait.durationMs.value === "number") {
    instance.attempt += 1;
    return waitUntil(turn, instance, turn.state.now + wait.durationMs.value);
  }
  const isSent = wait.for === "event" && wait.match === undefined;
  if (isSent && wait.name.op === "literal" && typeof wait.name.value === "string") {
    instance.attempt += 1;
    return waitForSignal(turn, instance, { name: wait.name.value, timeoutMs: wait.timeoutMs });
  }
  beginBinding(turn, instance, "beginWait");
}

export function applyWaitBegun(turn: Turn, event: WaitBegun): void {
  const instance = turn.state.active.get(event.path);
  if (instance?.phase !== "binding" || instance.step.step.kind !== "wait") return;
  if (event.until !== undefined) return waitUntil(turn, instance, event.until);
  const { wait } = instance.step.step;
  const timeoutMs = wait.for === "event" ? wait.timeoutMs : undefined;
  waitForSignal(turn, instance, { name: event.signal ?? "", timeoutMs });
}

/** The time has come, or the event has not. */
export function applyWaitOver(turn: Turn, instance: Instance): void {
  if (instance.phase !== "waiting") return;
  if (instance.signal === undefined) return succeedInstance(turn, instance, 0);
  stopWaiting(turn, instance);
  const message = `The event "${instance.signal}" did not come in time.`;
  failInstance(turn, instance, { code: "WAIT_TIMED_OUT", message, seq: 0 }, { mayRetry: true });
}

/** Each signal is read once, by the step that has waited longest. A signal that no step waits for is kept. */
export function applySignalReceived(turn: Turn, event: SignalReceived): void {
  const { waiters, signals, signalKeys } = turn.state;
  if (event.key !== undefined) signalKeys.set(event.key.key, event.key.hash);
  const first = waiters.get(event.name)?.values().next().value;
  if (first === undefined) {
    const kept = signals.get(event.name);
    if (kept === undefined) signals.set(event.name, [turn.seq]);
    else kept.push(turn.seq);
    return;
  }
  stopWaiting(turn, first);
  succeedInstance(turn, first, turn.seq);
}

export function stopWaiting(turn: Turn, instance: Instance): void {
  stopTimer(turn, timerOf(instance, "wait"));
  if (instance.signal === undefined) return;
  const { step } = instance.step;
  const isMatched = step.kind === "wait" && step.wait.for === "event" && step.wait.match !== undefined;
  if (isMatched) turn.commands.push({ type: "endWait", instance, attempt: instance.attempt });
  const { waiters } = turn.state;
  const waiting = waiters.get(instance.signal);
  waiting?.delete(instance);
  if (waiting?.size === 0) waiters.delete(instance.signal);
}

function waitUntil(turn: Turn, instance: Instance, at: number): void {
  if (at <= turn.state.now) return succeedInstance(turn, instance, 0);
  instance.phase = "waiting";
  startTimer(turn, timerOf(instance, "wait"), at);
}

function waitForSignal(
  turn: Turn,
  instance: Instance,
  { name, timeoutMs }: { readonly name: string; readonly timeoutMs: number | undefined },
): void {
  const { signals, waiters, now } = turn.state;
  const kept = signals.get(name);
  const seq = kept?.shift();
  if (kept?.length === 0) signals.delete(name);
  if (seq !== undefined) return succeedInstance(turn, instance, seq);
  instance.phase = "waiting";
  instance.signal = name;
  const others = waiters.get(name);
  if (others === undefined) waiters.set(name, new Set([instance]));
  else others.add(instance);
  if (timeoutMs !== undefined) startTimer(turn, timerOf(instance, "wait"), now + timeoutMs);
}
