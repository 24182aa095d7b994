import { writeMicro } from "../../amounts.ts";
import type { CostReported, CostReserved } from "../../history/events.ts";
import type { Budget, PaidCall, RunState } from "../../history/run-state.ts";
import type { Turn } from "../turn.ts";

/** What calls may have cost beside what is known, by their upper bounds. Null: a call without a bound is among them. */
export function computeUncertain({ openMicro, lostMicro, unbounded }: Budget): number | null {
  return unbounded > 0 ? null : openMicro + lostMicro;
}

/** What counts towards a limit, beside reservations: a call that nobody knows the cost of counts as if it had cost the most. */
export function countedMicro({ spentMicro, lostMicro }: Budget): number {
  return spentMicro + lostMicro;
}

/** For messages: `$0.30 is spent, and $0.05 more may be: ...` */
export function explainUsed({ spentMicro, lostMicro }: Budget): string {
  const spent = `${writeMicro(spentMicro)} is spent`;
  return lostMicro === 0 ? spent : `${spent}, and up to ${writeMicro(lostMicro)} more on calls whose cost nobody knows`;
}

export function applyCostReserved(turn: Turn, { path, attempt, call, atMostMicro, expectedMicro }: CostReserved): void {
  const { paidCalls, budget, active, blocked } = turn.state;
  const key = keyOf(path, attempt);
  const calls = paidCalls.get(key) ?? new Map<number, PaidCall>();
  paidCalls.set(key, calls.set(call, { atMostMicro, is: "open" }));
  if (atMostMicro === undefined) budget.unbounded += 1;
  else budget.openMicro += atMostMicro;
  const instance = active.get(path);
  if (instance?.attempt !== attempt || expectedMicro === undefined) return;
  const { expectedMicro: known, probing } = budget;
  known.set(instance.step.key, Math.max(expectedMicro, known.get(instance.step.key) ?? 0));
  if (!instance.isProbe) return;
  // It gives back what it will hardly need, and others of its kind need not wait any longer for its end.
  instance.isProbe = false;
  probing.delete(instance.step.key);
  const spare = Math.max(0, instance.reservedMicro - Math.max(expectedMicro, atMostMicro ?? 0));
  instance.reservedMicro -= spare;
  budget.reservedMicro -= spare;
  if (blocked.size > 0) turn.hasRoom = true;
}

/** A call's cost is known now, or never will be. Returns what it takes of the attempt's reservation. */
export function settleCall({ state }: Turn, { path, attempt, call, uncertain, costMicro }: CostReported): number {
  const key = keyOf(path, attempt);
  const paid = call === undefined ? undefined : state.paidCalls.get(key)?.get(call);
  if (call === undefined || paid === undefined) return costMicro;
  if (uncertain !== true) {
    forget(state, { key, path, call, paid });
    return costMicro;
  }
  lose(state, path, paid);
  const { atMostMicro } = paid;
  if (atMostMicro === undefined) {
    paid.is = "unknown";
    return costMicro;
  }
  // A part of the bound is known: the rest stays in doubt.
  forget(state, { key, path, call, paid });
  const rest: PaidCall = { atMostMicro: Math.max(0, atMostMicro - costMicro), is: "open" };
  state.paidCalls.set(key, (state.paidCalls.get(key) ?? new Map<number, PaidCall>()).set(call, rest));
  state.budget.openMicro += rest.atMostMicro ?? 0;
  lose(state, path, rest);
  rest.is = "unknown";
  return Math.max(atMostMicro, costMicro);
}

/** The attempt has told its whole cost, if late. The calls of which it has said that nobody knows are not part of it. */
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

function lose({ budget, active }: RunState, path: string, paid: PaidCall): void {
  if (paid.is !== "open") return;
  paid.is = "lost";
  const { atMostMicro = 0 } = paid;
  budget.openMicro -= atMostMicro;
  budget.lostMicro += atMostMicro;
  const instance = active.get(path);
  if (instance !== undefined) instance.lostMicro += atMostMicro;
}

interface Found {
  readonly key: string;
  readonly path: string;
  readonly call: number;
  readonly paid: PaidCall;
}

function forget({ budget, active, paidCalls }: RunState, { key, path, call, paid }: Found): void {
  const { atMostMicro = 0 } = paid;
  if (paid.atMostMicro === undefined) budget.unbounded -= 1;
  if (paid.is === "open") budget.openMicro -= atMostMicro;
  else {
    budget.lostMicro -= atMostMicro;
    const instance = active.get(path);
    if (instance !== undefined) instance.lostMicro -= atMostMicro;
  }
  const calls = paidCalls.get(key);
  calls?.delete(call);
  if (calls?.size === 0) paidCalls.delete(key);
}

function keyOf(path: string, attempt: number): string {
  return `${path}@${attempt}`;
}
