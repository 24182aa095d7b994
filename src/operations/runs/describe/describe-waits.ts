import { toIsoTime } from "../../../core/iso-time.ts";
import type { RunRecord } from "../../../ports/journal.ts";
import type { Application } from "../../application/application.ts";
import type { RunDescription } from "../run-schemas.ts";

/** What calls of a run wait for at this moment: the process that drives it knows. */
export async function describeWaits(
  app: Pick<Application, "capacityWaits">,
  { id, status }: RunRecord,
): Promise<Pick<RunDescription, "capacity_waits">> {
  const waits = status === "running" ? await app.capacityWaits(id) : [];
  if (waits.length === 0) return {};
  return {
    capacity_waits: waits.map(({ name, inFlight, width, waitingHere, closedUntil }) => ({
      pool: name,
      in_flight: inFlight,
      width,
      waiting: waitingHere,
      closed_until: closedUntil === undefined ? null : toIsoTime(closedUntil),
    })),
  };
}
