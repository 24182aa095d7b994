import type { Command } from "../../history/commands.ts";
import type { Budget, Instance, RunState } from "../../history/run-state.ts";
import type { Turn } from "../turn.ts";
import { decideReservation, isUnknown, type ReservationDecision } from "./decide-reservation.ts";
import { countedMicro } from "./paid-calls.ts";

/** Computes what the next attempt may spend of the run's own budget. Undefined: there is none. */
export function computeReservation(
  budget: Budget,
  { step, tooLittleMicro, needsMicro }: Instance,
): ReservationDecision | undefined {
  const { limitMicro, reservedMicro, window, probing } = budget;
  if (limitMicro === undefined) return undefined;
  return decideReservation({
    limit: limitMicro,
    used: countedMicro(budget),
    reserved: reservedMicro,
    window,
    ...knownCosts(budget, step.key),
    isProbed: probing.has(step.key),
    tooLittle: tooLittleMicro,
    needs: needsMicro,
  });
}

/** True: the attempt that begins is the one that shows what its step costs. */
export function isProbe(budget: Budget, { step, tooLittleMicro }: Instance): boolean {
  return budget.limitMicro !== undefined && isUnknown({ ...knownCosts(budget, step.key), tooLittle: tooLittleMicro });
}

function knownCosts({ maxSeenMicro, expectedMicro }: Budget, step: string) {
  return { seen: maxSeenMicro.get(step), expected: expectedMicro.get(step) };
}

/** Computes what one attempt may spend: its reservation, and no more than is left of the step's own limit. */
export function computeCap(
  { step, costMicro, lostMicro }: Instance,
  reservedMicro: number | undefined,
): number | undefined {
  const own = step.step.maxCostMicro;
  const ownLeft = own === undefined ? Number.POSITIVE_INFINITY : own - costMicro - lostMicro;
  const cap = Math.min(reservedMicro ?? Number.POSITIVE_INFINITY, ownLeft);
  return Number.isFinite(cap) ? cap : undefined;
}

const LARGEST_WINDOW = 4096;

export function bookOutcome(budget: Budget, stepKey: string, costMicro: number): void {
  if (costMicro > (budget.maxSeenMicro.get(stepKey) ?? -1)) budget.maxSeenMicro.set(stepKey, costMicro);
  if (budget.window < LARGEST_WINDOW) budget.window *= 2;
}

type StartTask = Extract<Command, { type: "startTask" }>;

/**
 * Gives money that no task waits for to the tasks that begin now, so that a step is not cut off at a part of a budget that
 * has room for it. A task that runs alone gets all of it. Beside others, tasks whose cost is not known divide one half, and
 * those that come later find the other half. The money is reserved like the rest.
 */
export function reserveRemainder({ state, commands }: Turn): void {
  const { budget, blocked } = state;
  const waiting = blocked.peek();
  // Who waits for a probe waits for its end, whatever it gets.
  if (budget.limitMicro === undefined || (waiting !== undefined && !budget.probing.has(waiting.step.key))) return;
  const free = budget.limitMicro - countedMicro(budget) - budget.reservedMicro;
  const started = commands.flatMap((command, index) => (isPaid(command) ? [{ command, index }] : []));
  if (free <= 0 || started.length === 0) return;
  const isAlone = state.tasksInFlight === started.length;
  const takers = isAlone ? started : started.filter(({ command }) => hasUnknownCost(state, command));
  const share = takers.length === 0 ? 0 : Math.floor((isAlone ? free : free / 2) / takers.length);
  if (share === 0) return;
  for (const { command, index } of takers) commands[index] = give(state, command, share);
}

function isPaid(command: Command): command is StartTask {
  return command.type === "startTask" && command.instance.reservedMicro > 0;
}

function hasUnknownCost({ budget }: RunState, { instance }: StartTask): boolean {
  return !budget.maxSeenMicro.has(instance.step.key);
}

function give({ budget }: RunState, command: StartTask, share: number): StartTask {
  const { instance } = command;
  instance.reservedMicro += share;
  budget.reservedMicro += share;
  const maxCostMicro = computeCap(instance, instance.reservedMicro);
  return maxCostMicro === undefined ? command : { ...command, maxCostMicro };
}
