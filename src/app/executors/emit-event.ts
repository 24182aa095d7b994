import { grantOf } from "../../core/trust/grant.ts";
import type { Emit } from "../../executors/core-tools/core-tools.ts";
import { forOwner } from "../../operations/application/owner-application.ts";
import type { Ports } from "../../operations/application/ports.ts";
import { readRunStarted } from "../../operations/runs/read-run-started.ts";
import { runnerForOne } from "../../operations/start/request-runner.ts";
import { addressEvent } from "../../operations/triggers/address-event.ts";
import { deliverMessage } from "../../operations/triggers/deliver-message.ts";
import { publishEvent } from "../../operations/triggers/publish-event.ts";
import { TriggerTables } from "../../operations/triggers/trigger-tables.ts";
import { JsonSchemas } from "../../schemas/json-schemas.ts";

/**
 * Sends events of steps as `POST /triggers/EVENT` sends those of clients: on behalf of the run's tenant and within its grant; what they start may
 * cost no more than the run that sends it. The step's path is the event's id, so that one that is tried again sends it once.
 */
export function createEmit(app: Ports): Emit {
  const tables = new TriggerTables(app);
  const runner = runnerForOne(() => app.host());
  const checker = new JsonSchemas();
  return async ({ name, ...event }, { runId, path, tenantId, settings }) => {
    const { journal } = await app.records();
    const run = await journal.findRun(runId);
    const sender = run === undefined || run === "ambiguous" ? undefined : await readRunStarted(journal, run);
    const owner = forOwner(app, { tenantId, maxCostMicro: sender?.maxCostMicro, grant: grantOf(settings) });
    const address = await addressEvent(owner, await tables.find(tenantId), name);
    const { publication, ...message } = address(event)(`${runId} ${path}`);
    const claim = async () => undefined;
    const runs = await deliverMessage(
      { app: owner, runner, checker },
      { ...message, claim, requestId: `${runId}:${path}`, context: {} },
    );
    const waiting = publication && (await publishEvent(owner, publication));
    return {
      runs: runs.map(({ run_id, workflow }) => ({ run_id, workflow })),
      ...(waiting && { waiting: { ...waiting } }),
    };
  };
}
