import { isPawlError } from "../../core/errors/pawl-error.ts";
import type { Trigger } from "../../core/graph/graph.ts";
import type { JsonObject } from "../../core/json.ts";
import type { JsonSchemas } from "../../schemas/json-schemas.ts";
import { forOwner } from "../application/owner-application.ts";
import type { Driving, StartPorts } from "../application/ports.ts";
import { withoutTrusted } from "../requests/request-context.ts";
import { toRequestInput } from "../start/input/to-run-input.ts";
import { prepareStart } from "../start/prepare-run.ts";
import type { RequestRunner } from "../start/request-runner.ts";
import { withTrace } from "../start/with-trace.ts";
import { nameOf, type TriggerTarget } from "./trigger-table.ts";

export interface Delivery {
  readonly targets: readonly (TriggerTarget & Pick<Trigger, "name">)[];
  readonly requestId: string;
  readonly traceParent?: string | undefined;
  readonly requestData: JsonObject;
  readonly context: JsonObject;
  /** Equal for every delivery of the same message to the same workflow. */
  runIdFor(workflow: string): string;
  /** What must be durable before anything begins. */
  claim(): Promise<void>;
}

export interface DeliveredRun {
  readonly run_id: string;
  readonly workflow: string;
  /** The message has come before: its run was started then. */
  readonly duplicate: boolean;
}

export interface DeliveryParts {
  readonly app: StartPorts & Driving;
  readonly runner: RequestRunner;
  readonly checker: JsonSchemas;
}

/**
 * Starts one run in every workflow that a message triggers, once whatever happens, and waits for none. A payload that does
 * not fit one of them starts nothing. Throws `INPUT_INVALID`, `SERVER_STOPPING`, `JOURNAL_FULL`, `JOURNAL_IO`.
 */
export async function deliverMessage(parts: DeliveryParts, delivery: Delivery): Promise<readonly DeliveredRun[]> {
  const { app, runner, checker } = parts;
  const { targets, requestId, requestData, context } = delivery;
  const starts = await Promise.all(
    targets.map(async (target) => {
      const { definition } = target;
      const named = { ...requestData, ...nameOf({ name: target.name }) };
      const request = { requestId, requestData: named, context: contextFor(target, context) };
      const input = await toRequestInput(request, definition.graph, checker);
      const runId = delivery.runIdFor(definition.graph.name);
      const start = await prepareStart(forOwner(app, target), { ...target, input, runId }, { folder: app.appDir });
      return withTrace(start, delivery.traceParent);
    }),
  );
  await delivery.claim();
  return Promise.all(
    starts.map(async (start) => ({
      run_id: start.runId,
      workflow: start.definition.graph.name,
      duplicate: !(await startOnce(runner, start)),
    })),
  );
}

/** Only files of the application get the caller's context. A tenant that saves a definition may not even see its runs. */
function contextFor({ file }: TriggerTarget, context: JsonObject): JsonObject {
  return file === undefined ? withoutTrusted(context) : context;
}

type Start = Parameters<RequestRunner["start"]>[0];

/** False: there is a run of this id already. */
export async function startOnce(runner: RequestRunner, start: Start): Promise<boolean> {
  try {
    await runner.start(start);
    return true;
  } catch (error) {
    if (isPawlError(error) && error.code === "RUN_ID_TAKEN") return false;
    throw error;
  }
}
