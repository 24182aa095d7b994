import { writeMicro } from "../../../core/amounts.ts";
import { isPawlError } from "../../../core/errors/pawl-error.ts";
import { toIsoTime } from "../../../core/iso-time.ts";
import { type RunRecord, wantsDriver } from "../../../ports/journal.ts";
import type { BudgetWait } from "../../../ports/waits.ts";
import type { Care, Driving, Ports, Stores } from "../../application/ports.ts";
import { toUsd } from "../../limits/micro-dollars.ts";
import type { RunDescription } from "../run-schemas.ts";

/** Runs that should go on, where no process is there to drive them: after a crash, and where one was left without a server. */
export async function findUndriven(
  app: Pick<Ports, "isDriven" | "clock">,
  runs: readonly RunRecord[],
): Promise<ReadonlySet<string>> {
  const now = app.clock.now();
  const open = runs.filter((run) => wantsDriver(run, now));
  if (open.length === 0 || (await app.isDriven())) return new Set();
  return new Set(open.map(({ id }) => id));
}

export const UNDRIVEN = { not_driven: true } as const;

/** What each of these runs waits for of a budget at this moment: the process that drives it knows. */
export async function findBudgetWaits(
  app: Pick<Driving, "waits">,
  runs: readonly RunRecord[],
): Promise<ReadonlyMap<string, Pick<RunDescription, "budget_wait">>> {
  const running = runs.flatMap(({ id, status }) => (status === "running" ? [id] : []));
  const waits = running.length === 0 ? [] : (await app.waits(running)).waits;
  return new Map(waits.map((wait) => [wait.run, { budget_wait: describeBudgetWait(wait) }]));
}

function describeBudgetWait({ budget, needsMicro, heldMicro, runs, holders }: BudgetWait) {
  const what = `${needsMicro === undefined ? "" : `${writeUsd(needsMicro)} of `}${budget.charAt(0).toLowerCase()}${budget.slice(1)}`;
  const held = `${runs === 1 ? "1 run holds" : `${runs} runs hold`} ${writeUsd(heldMicro)}`;
  return {
    says: `waits for ${what}: ${held}`,
    needs_usd: needsMicro === undefined ? null : toUsd(needsMicro),
    held_usd: toUsd(heldMicro),
    held_by: runs,
    ...(holders === undefined ? {} : { holders }),
  };
}

/** In cents, unless it is less. */
function writeUsd(micro: number): string {
  return micro > 0 && micro < 10_000 ? writeMicro(micro) : `$${(micro / 1_000_000).toFixed(2)}`;
}

/** What a run in line, or calls and attempts of a run, wait for at this moment. */
export async function describeWaits(
  app: Pick<Driving, "waits"> & Pick<Stores, "records">,
  { id, no, status, parked, wakeAt }: RunRecord,
): Promise<Pick<RunDescription, "capacity_waits" | "budget_wait" | "place_wait">> {
  const line = status === "queued" && parked ? await (await app.records()).journal.findLine(no) : undefined;
  if (line !== undefined) {
    const ahead = line.before === 0 ? "it is next" : `${line.before} before it`;
    return { place_wait: { says: `waits for a place of its key: ${ahead}`, ...line, holders: [...line.holders] } };
  }
  if (status === "queued" && parked && wakeAt !== undefined)
    return { place_wait: { says: `waits for its turn: not before ${toIsoTime(wakeAt)}` } };
  if (status !== "running") return {};
  const { capacity, waits } = await app.waits([id]);
  const [wait] = waits;
  const budget = wait === undefined ? {} : { budget_wait: describeBudgetWait(wait) };
  if (capacity.length === 0) return budget;
  return {
    ...budget,
    capacity_waits: capacity.map(({ name, inFlight, width, waitingHere, waiting, closedUntil }) => ({
      pool: name,
      in_flight: inFlight,
      width,
      waiting: waitingHere,
      waiting_in_all: waiting,
      closed_until: closedUntil === undefined ? null : toIsoTime(closedUntil),
    })),
  };
}

/** Whether Restate, where it drives the runs, has stopped this one or tries it in vain. One that does not answer is told of by `doctor`. */
export async function describeInvocation(
  app: Pick<Care, "restate">,
  { id, completedAt }: RunRecord,
): Promise<Pick<RunDescription, "invocation">> {
  if (completedAt !== undefined) return {};
  try {
    const [troubled] = (await app.restate?.()?.listTroubled({ runId: id })) ?? [];
    if (troubled === undefined) return {};
    const { invocationId, status, retries, failure = null } = troubled;
    return { invocation: { id: invocationId, status, retries, failure } };
  } catch (error) {
    if (!isPawlError(error)) throw error;
    return {};
  }
}
