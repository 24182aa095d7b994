import { createHash } from "node:crypto";
import type { z } from "zod";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import { writeExact } from "../../core/exact-json.ts";
import { newRunId } from "../../hosts/session/new-run.ts";
import type { RunRecord } from "../../ports/journal.ts";
import type { GivenKey } from "../../ports/service/idempotency-keys.ts";
import type { Place, Principal, StartPorts, Stores } from "../application/ports.ts";
import { describeProblem } from "../definitions/describe-problem.ts";
import type { acceptedRunSchema } from "../runs/run-schemas.ts";
import type { PreparedRun } from "./prepare-run.ts";
import type { Submission } from "./prepare-submission.ts";
import type { Ran, RequestRunner } from "./request-runner.ts";
import { withTrace } from "./with-trace.ts";

/** A client's request for a run. The client may repeat it with the same key. */
export interface RunRequest<Prepared extends Startable = Startable> {
  /** All of it: the same key with something else is a mistake. */
  readonly asked: object;
  /** Writes nothing. The run has this id, where one is given. */
  prepare(runId?: string): Promise<Prepared>;
  /** The same key and the same request have the same run for 24 hours. */
  readonly idempotencyKey?: string | undefined;
  /** W3C trace context of whoever asks; no part of what was asked, as each try has another. */
  readonly traceParent?: string | undefined;
}

interface Startable {
  readonly start: PreparedRun;
}

/** The outcome of a request: a new run, or the run of an equal request. */
export type Submitted<Prepared extends Startable = Startable> =
  | { readonly is: "new"; readonly prepared: Prepared }
  | { readonly is: "known"; readonly record: RunRecord };

export function toRunRequest(app: StartPorts, submission: Submission): Pick<RunRequest, "asked" | "prepare"> {
  return {
    asked: submission,
    prepare: async (runId) => {
      // It loads every dialect. Most commands start nothing.
      const { prepareSubmission } = await import("./prepare-submission.ts");
      return { start: await prepareSubmission(app, runId === undefined ? submission : { ...submission, runId }) };
    },
  };
}

/** The outcome in answers. */
export function describeSubmitted(submitted: Submitted): z.output<typeof acceptedRunSchema> {
  if (submitted.is === "new") {
    const { runId, definition } = submitted.prepared.start;
    const warnings = (definition.warnings ?? []).map(describeProblem);
    return { run_id: runId, status: "queued", ...(warnings.length > 0 && { warnings }) };
  }
  const { id, status } = submitted.record;
  return { run_id: id, status };
}

/** Takes submissions of one server; knows those that are being answered. */
export class Submissions {
  readonly #runner: Pick<RequestRunner, "run" | "start">;
  /** Keys whose request has not been answered yet. */
  readonly #inFlight = new Set<string>();

  constructor(runner: Pick<RequestRunner, "run" | "start">) {
    this.#runner = runner;
  }

  /** Records a run that is prepared, and does not wait for it. */
  begin(prepared: PreparedRun): Promise<void> {
    return this.#runner.start(prepared);
  }

  /** Records the run and does not wait for it. Throws what `prepare` throws, and as `run`. */
  async start<Prepared extends Startable>(
    app: Place & Principal & Stores,
    request: RunRequest<Prepared>,
  ): Promise<Submitted<Prepared>> {
    return this.#once(app, request, async (submitted) => {
      if (submitted.is === "new") await this.#runner.start(submitted.prepared.start);
      return submitted;
    });
  }

  /**
   * Waits until the run ends or waits itself. Throws `IDEMPOTENCY_MISMATCH` where the key came with another request before,
   * `IDEMPOTENCY_IN_FLIGHT` while that one is being answered.
   */
  async run(
    app: Place & Principal & Stores,
    request: RunRequest,
  ): Promise<{ readonly runId: string; readonly ran: Ran }> {
    return this.#once(app, request, async (submitted) => {
      if (submitted.is === "new") {
        const { start } = submitted.prepared;
        return { runId: start.runId, ran: await this.#runner.run(start) };
      }
      const { record } = submitted;
      const is = record.completedAt === undefined ? "parked" : "ended";
      return { runId: record.id, ran: { is, record } };
    });
  }

  async #once<Prepared extends Startable, T>(
    app: Place & Principal & Stores,
    request: RunRequest<Prepared>,
    answer: (submitted: Submitted<Prepared>) => Promise<T>,
  ): Promise<T> {
    const { idempotencyKey: key, traceParent } = request;
    const traced = (prepared: Prepared) => ({ ...prepared, start: withTrace(prepared.start, traceParent) });
    if (key === undefined) return answer({ is: "new", prepared: traced(await request.prepare()) });
    const scoped = writeExact([app.tenantId ?? null, key]);
    if (this.#inFlight.has(scoped)) {
      throw new PawlError("IDEMPOTENCY_IN_FLIGHT", {
        message: `The request with the key "${key}" is still being answered.`,
      });
    }
    this.#inFlight.add(scoped);
    try {
      const submitted = await claim(app, request, key);
      if (submitted.is === "known") return await answer(submitted);
      const prepared = traced(submitted.prepared);
      try {
        return await answer({ is: "new", prepared });
      } catch (error) {
        // Another process has claimed the same key, and has begun the run in between.
        const record =
          isPawlError(error) && error.code === "RUN_ID_TAKEN" ? await find(app, prepared.start.runId) : undefined;
        if (record === undefined) throw error;
        return await answer({ is: "known", record });
      }
    } finally {
      this.#inFlight.delete(scoped);
    }
  }
}

/** Nothing that is refused leaves a trace: the key is claimed when the run could begin. */
async function claim<Prepared extends Startable>(
  app: Place & Principal & Stores,
  { asked, prepare }: RunRequest<Prepared>,
  key: string,
): Promise<Submitted<Prepared>> {
  const { idempotency } = await app.service();
  const requestHash = createHash("sha256").update(inOneOrder(asked)).digest("hex");
  const owner = { tenantId: app.tenantId, key, at: app.clock.now() };
  const given = await idempotency.find(owner);
  const known = given === undefined ? undefined : await readKnown(app, given, { key, requestHash });
  if (known !== undefined) return { is: "known", record: known };
  const runId = given?.runId ?? newRunId(owner.at);
  const prepared = await prepare(runId);
  const claimed = await idempotency.claim({ ...owner, requestHash, runId });
  if (claimed.runId === runId) return { is: "new", prepared };
  // Another process was faster.
  const record = await readKnown(app, claimed, { key, requestHash });
  if (record !== undefined) return { is: "known", record };
  return { is: "new", prepared: { ...prepared, start: { ...prepared.start, runId: claimed.runId } } };
}

/** JSON that is the same whatever the order of keys: a client that writes it again may write it in another. */
function inOneOrder(asked: object): string {
  return writeExact(asked, (_name, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

/** Undefined: the process that claimed the key died before the run began. */
async function readKnown(
  app: Stores,
  given: GivenKey,
  { key, requestHash }: { readonly key: string; readonly requestHash: string },
): Promise<RunRecord | undefined> {
  if (given.requestHash !== requestHash) {
    throw new PawlError("IDEMPOTENCY_MISMATCH", { message: `The key "${key}" came with another request before.` });
  }
  return find(app, given.runId);
}

async function find(app: Stores, runId: string): Promise<RunRecord | undefined> {
  const record = await (await app.records()).journal.findRun(runId);
  return record === "ambiguous" ? undefined : record;
}
