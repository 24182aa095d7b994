import { grantOf } from "../../core/trust/grant.ts";
import type { Sends } from "../../executors/core-tools/core-tools.ts";
import { forOwner } from "../../operations/application/owner-application.ts";
import type { Ports } from "../../operations/application/ports.ts";
import { readRunStarted } from "../../operations/runs/read-run-started.ts";
import { deriveRunId } from "../../operations/start/derive-run-id.ts";
import { prepareStart } from "../../operations/start/prepare-run.ts";
import { runnerForOne } from "../../operations/start/request-runner.ts";
import { resolveCall } from "../../operations/start/resolve-call.ts";
import { addressEvent } from "../../operations/triggers/address-event.ts";
import { deliverMessage, startOnce } from "../../operations/triggers/deliver-message.ts";
import { publishEvent } from "../../operations/triggers/publish-event.ts";
import { TriggerTables } from "../../operations/triggers/trigger-tables.ts";
import type { CallingStep } from "../../ports/tools/tool-set.ts";
import { JsonSchemas } from "../../schemas/json-schemas.ts";

/**
 * Sends events of steps as `POST /triggers/EVENT` sends those of clients, and starts runs: on behalf of the run's tenant and within its grant;
 * what they start may cost no more than the run that sends it. The step's path is the event's id, and the run's, so that one that
 * is tried again does it once.
 */
export function createSends(app: Ports): Sends {
  const tables = new TriggerTables(app);
  const runner = runnerForOne(() => app.host());
  const checker = new JsonSchemas();
  const senderOf = async ({ runId, tenantId, settings }: CallingStep) => {
    const { journal } = await app.records();
    const run = await journal.findRun(runId);
    const started = run === undefined || run === "ambiguous" ? undefined : await readRunStarted(journal, run);
    const grant = grantOf(settings);
    const owner = forOwner(app, { tenantId, maxCostMicro: started?.maxCostMicro, grant });
    return { owner, grant, options: started?.options ?? {} };
  };
  return {
    async event({ name, ...event }, step) {
      const { runId, path, tenantId } = step;
      const { owner } = await senderOf(step);
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
    },
    async start({ workflow, input: given }, step) {
      const { owner, grant, options } = await senderOf(step);
      // The name may have been computed of what somebody else has said.
      const call = { workflow, input: given, options, grant, tenantId: step.tenantId, isComputed: true };
      const { definition, input } = await resolveCall(owner, call);
      const runId = deriveRunId("step", step.runId, step.path);
      await startOnce(runner, await prepareStart(owner, { definition, input, runId }, { folder: app.appDir }));
      return { run_id: runId, workflow: definition.graph.name };
    },
  };
}
