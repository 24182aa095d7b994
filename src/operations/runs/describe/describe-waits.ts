import { isPawlError } from "../../../core/errors/pawl-error.ts";
import { toIsoTime } from "../../../core/iso-time.ts";
import { type RunRecord, wantsDriver } from "../../../ports/journal.ts";
import type { Application } from "../../application/application.ts";
import type { RunDescription } from "../run-schemas.ts";

/** Runs that should go on, where no process is there to drive them: after a crash, and where one was left without a server. */
export async function findUndriven(
  app: Pick<Application, "isDriven" | "clock">,
  runs: readonly RunRecord[],
): Promise<ReadonlySet<string>> {
  const now = app.clock.now();
  const open = runs.filter((run) => wantsDriver(run, now));
  if (open.length === 0 || (await app.isDriven())) return new Set();
  return new Set(open.map(({ id }) => id));
}

export const UNDRIVEN = { not_driven: true } as const;

/** What calls of a run wait for at this moment: the process that drives it knows. */
export async function describeWaits(
  app: Pick<Application, "capacityWaits">,
  { id, status }: RunRecord,
): Promise<Pick<RunDescription, "capacity_waits">> {
  const waits = status === "running" ? await app.capacityWaits(id) : [];
  if (waits.length === 0) return {};
  return {
    capacity_waits: waits.map(({ name, inFlight, width, waitingHere, waiting, closedUntil }) => ({
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
  app: Pick<Application, "restate">,
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
