import type { StepInterrupted } from "../../history/events.ts";
import type { Death, Instance, RunState } from "../../history/run-state.ts";
import { leavePlace, returnToPlace, takePlace } from "../flow/window.ts";
import type { Turn } from "../turn.ts";

/** An attempt that has worked for longer when the process dies is not what kills it. */
const YOUNG_MS = 60_000;
/** Older deaths are forgotten. */
const WINDOW_MS = 10 * 60_000;
/** Processes die of deploys and memory limits too, so no attempt is suspected before. */
export const SUSPECT_DEATHS = 3;
/** One death beside no other suspect may still be chance. */
const CULPRIT_DEATHS = 2;
/** Where the process has died while no suspect was at work, something else kills it too. */
const CULPRIT_DEATHS_AMONG_OTHERS = 4;
/** In journals of before deaths were told apart the third one failed the attempt. */
const POISON_DEATHS = 3;
const HELD_KEY = "held";

export interface DeathOfProcess {
  /** When it is found out. */
  readonly at: number;
  /** The last sign of life of the process. */
  readonly diedAt: number;
  /** Its work happens elsewhere and cannot kill the process. */
  runsElsewhere(instance: Instance): boolean;
  /** Each of its calls is on record before it is sent. */
  reservesCalls(instance: Instance): boolean;
}

/** Was in flight at several recent deaths: it goes on together with fewer and fewer others, until it is found out or cleared. */
export function isSuspect({ deaths }: Pick<Instance, "deaths">): boolean {
  return deaths.length >= SUSPECT_DEATHS;
}

/** It waits for its turn: nothing of the attempt in flight has begun. */
export function awaitsTurn(instance: Instance): boolean {
  return instance.phase === "dispatched" && !instance.begun && isSuspect(instance);
}

/** How much speaks against a suspect. A death beside no other one weighs twice. */
export function suspicionOf({ deaths }: Pick<Instance, "deaths">): number {
  return deaths.length + countAlone(deaths);
}

/** The smallest flight in which a suspect has died. */
export function smallestFlightOf({ deaths }: Pick<Instance, "deaths">): number {
  return deaths.reduce((least, { flight }) => (flight > 0 ? Math.min(least, flight) : least), Number.POSITIVE_INFINITY);
}

/** A death of the process, for one attempt that was in flight. `isApart`: no suspect of the run was at work. */
export function toInterrupted(instance: Instance, death: DeathOfProcess, isApart: boolean): StepInterrupted {
  const { path, attempt } = instance;
  const { at, diedAt } = death;
  const interrupted = { type: "stepInterrupted", at, path, attempt, cause: "crash", diedAt } as const;
  // The start of a suspect is durable before it begins; that of others may be missing.
  if (awaitsTurn(instance)) return { ...interrupted, hasBegun: false, ...(isApart ? { apart: true } : {}) };
  const judged = death.runsElsewhere(instance) ? interrupted : weigh(instance, interrupted);
  const hasSent = !death.reservesCalls(instance) || instance.callsSent > 0 || instance.records !== undefined;
  return hasSent ? judged : { ...judged, hasBegun: false };
}

/** A program that worked for the attempt has died. The attempt is judged as if the process had. */
export function toWorkerDied(
  instance: Instance,
  { at, reason, hasBegun }: { readonly at: number; readonly reason: string; readonly hasBegun: boolean },
): StepInterrupted {
  const { path, attempt } = instance;
  const interrupted = { type: "stepInterrupted", at, path, attempt, cause: "crash", diedAt: at, reason } as const;
  return weigh(instance, hasBegun ? interrupted : { ...interrupted, hasBegun });
}

function weigh(instance: Instance, interrupted: StepInterrupted & { readonly diedAt: number }): StepInterrupted {
  if (interrupted.diedAt - instance.startedAt >= YOUNG_MS) return interrupted;
  const { diedAt, reason } = interrupted;
  const enough = instance.deathsApart > 0 ? CULPRIT_DEATHS_AMONG_OTHERS : CULPRIT_DEATHS;
  const holds = countAlone(addDeath(instance, { diedAt, reason })) >= enough;
  return holds ? { ...interrupted, counts: true, holds } : { ...interrupted, counts: true };
}

function addDeath({ deaths, flight }: Instance, { diedAt, reason }: NewDeath): readonly Death[] {
  return [...deaths.filter(({ at }) => at > diedAt - WINDOW_MS), { at: diedAt, flight, reason }];
}

interface NewDeath {
  readonly diedAt: number;
  readonly reason: string | undefined;
}

/** An attempt is about to begin: what speaks against it is what is not older than the window. */
export function forgetOldDeaths(instance: Instance, now: number): void {
  instance.begun = false;
  instance.flight = 0;
  instance.callsSent = 0;
  if (instance.deaths.length > 0) instance.deaths = instance.deaths.filter(({ at }) => at > now - WINDOW_MS);
}

/** Something new is on record, or the attempt has come to an end: it has not taken the process down. */
export function clearDeaths(instance: Instance): void {
  if (instance.deaths.length > 0) instance.deaths = [];
  instance.deathsApart = 0;
  instance.uncheckedDeaths = 0;
}

/** Decides what follows from a death of the process with the attempt in flight. */
export function judgeDeath(instance: Instance, event: StepInterrupted): "goes on" | "is held" | "is poison" {
  const { diedAt, counts, reason } = event;
  if (event.apart === true) instance.deathsApart += 1;
  if (event.hasBegun === false && counts !== true) return "goes on";
  if (diedAt === undefined) {
    instance.uncheckedDeaths += 1;
    return instance.uncheckedDeaths >= POISON_DEATHS ? "is poison" : "goes on";
  }
  if (counts === true) instance.deaths = addDeath(instance, { diedAt, reason });
  return event.holds === true && instance.scope.phase === "open" ? "is held" : "goes on";
}

/** The step rests until a person resumes the run. All others go on, in its place too. */
export function holdInstance(turn: Turn, instance: Instance): void {
  instance.phase = "held";
  turn.state.stepsHeld += 1;
  leavePlace(turn, instance, { key: HELD_KEY, allowEdit: false });
}

/** A person has resumed the run: nothing speaks against any step any more. */
export function releaseInstance(turn: Turn, instance: Instance): void {
  clearDeaths(instance);
  if (instance.phase !== "held") return;
  turn.state.stepsHeld -= 1;
  returnToPlace(turn, instance);
}

/** A held step is given up. */
export function dropHeld(turn: Turn, instance: Instance): void {
  turn.state.stepsHeld -= 1;
  takePlace(instance);
}

/** Why steps of the run rest until a person resumes it. Undefined: none does. */
export function findHeld(state: RunState): HeldRun | undefined {
  if (state.stepsHeld === 0) return undefined;
  const steps = [...state.active.values()].filter(({ phase }) => phase === "held").map(explainHeld);
  const more = steps.length > 1 ? ` So do ${steps.length - 1} more of its steps.` : "";
  return { code: "POISON", message: `${steps[0]?.message ?? ""}${more}` };
}

export interface HeldStep {
  readonly path: string;
  readonly code: "POISON";
  readonly message: string;
  /** The death after which it is held. */
  readonly at: number;
}

interface HeldRun {
  readonly code: "POISON";
  readonly message: string;
}

export function explainHeld({ path, deaths }: Instance): HeldStep {
  const { at = 0, reason } = deaths.at(-1) ?? {};
  const what = reason === undefined ? "the process" : "what worked for it";
  const said = reason === undefined ? "" : ` ${reason}`;
  const message = `"${path}" was in flight each of the last ${deaths.length} times that ${what} died, and in the end alone. It is held.${said}`;
  return { path, code: "POISON", message, at };
}

function countAlone(deaths: Instance["deaths"]): number {
  return deaths.reduce((count, { flight }) => count + (flight === 1 ? 1 : 0), 0);
}
