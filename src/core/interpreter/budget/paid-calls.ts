import { writeMicro } from "../../amounts.ts";
import type { CostReported, CostReserved } from "../../history/events.ts";
import type { Budget, PaidCall, RunState } from "../../history/run-state.ts";
import type { Turn } from "../turn.ts";

/** What calls may have cost beside what is known, by their upper bounds. Null: a call without a bound is among them. */
export function computeUncertain({ openMicro, lostMicro, unbounded }: Budget): number | null {
  return unbounded > 0 ? null : openMicro + lostMicro;
}

/** What counts towards a limit, beside calls in flight: a call of unknown cost counts as if it had cost the most. */
export function countedMicro({ spentMicro, lostMicro }: Budget): number {
  return spentMicro + lostMicro;
}

/** For messages: `$0.30 is spent, and $0.05 more may be: ...` */
export function explainUsed({ spentMicro, lostMicro }: Budget): string {
  const spent = `${writeMicro(spentMicro)} is spent`;
  return lostMicro === 0 ? spent : `${spent}, and up to ${writeMicro(lostMicro)} more on calls whose cost is not known`;
}

export function applyCostReserved({ state }: Turn, { path, attempt, call, atMostMicro }: CostReserved): void {
  keep(state, { key: keyOf(path, attempt), path, call, paid: { atMostMicro, is: "open" } });
  const instance = state.active.get(path);
  if (instance?.attempt === attempt) instance.callsSent += 1;
}

/** A call's cost is known now, or never will be. */
export function settleCall({ state }: Turn, { path, attempt, call, uncertain, costMicro }: CostReported): void {
  const key = keyOf(path, attempt);
  const paid = call === undefined ? undefined : state.paidCalls.get(key)?.get(call);
  if (call === undefined || paid === undefined) return;
  forget(state, { key, path, call, paid });
  if (uncertain !== true) return;
  // A part of the bound may be known: the rest stays in doubt.
  const { atMostMicro } = paid;
  const rest = atMostMicro === undefined ? undefined : Math.max(0, atMostMicro - costMicro);
  keep(state, { key, path, call, paid: { atMostMicro: rest, is: "unknown" } });
}

/** The attempt has told its whole cost, if late. Calls that it has declared unknown are not part of it. */
export function closeCalls({ state }: Turn, path: string, attempt: number): void {
  const key = keyOf(path, attempt);
  for (const [call, paid] of state.paidCalls.get(key) ?? [])
    if (paid.is !== "unknown") forget(state, { key, path, call, paid });
}

/** The attempt is over, and has not told what its calls in flight have cost. */
export function loseCalls({ state }: Turn, path: string, attempt: number): void {
  for (const paid of state.paidCalls.get(keyOf(path, attempt))?.values() ?? []) lose(state, path, paid);
}

export function hasCalls({ state }: Turn, path: string, attempt: number): boolean {
  return state.paidCalls.has(keyOf(path, attempt));
}

function lose(state: RunState, path: string, paid: PaidCall): void {
  if (paid.is !== "open") return;
  count(state, path, paid, -1);
  paid.is = "lost";
  count(state, path, paid, 1);
}

interface Found {
  readonly key: string;
  readonly path: string;
  readonly call: number;
  readonly paid: PaidCall;
}

function keep(state: RunState, { key, path, call, paid }: Found): void {
  const calls = state.paidCalls.get(key) ?? new Map<number, PaidCall>();
  state.paidCalls.set(key, calls.set(call, paid));
  count(state, path, paid, 1);
}

function forget(state: RunState, { key, path, call, paid }: Found): void {
  count(state, path, paid, -1);
  const calls = state.paidCalls.get(key);
  calls?.delete(call);
  if (calls?.size === 0) state.paidCalls.delete(key);
}

/** Adds a call to the sums that it belongs to, or takes it out of them. */
function count({ budget, active }: RunState, path: string, { atMostMicro, is }: PaidCall, times: 1 | -1): void {
  if (atMostMicro === undefined) budget.unbounded += times;
  else if (is === "open") budget.openMicro += times * atMostMicro;
  else {
    budget.lostMicro += times * atMostMicro;
    const instance = active.get(path);
    if (instance !== undefined) instance.lostMicro += times * atMostMicro;
  }
}

function keyOf(path: string, attempt: number): string {
  return `${path}@${attempt}`;
}
