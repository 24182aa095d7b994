import { randomUUID } from "node:crypto";
import type { z } from "zod";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import { writeExact } from "../../core/exact-json.ts";
import type { RunNotice } from "../../hosts/run-host.ts";
import { newRunId } from "../../hosts/session/new-run.ts";
import type { RunRecord } from "../../ports/journal.ts";
import type { GivenKey } from "../../ports/service/idempotency-keys.ts";
import type { Place, Principal, StartPorts, Stores } from "../application/ports.ts";
import { describeProblem } from "../definitions/describe-problem.ts";
import { hashOfAsked } from "../hash-of-asked.ts";
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
  /** What is to be noted around the start. */
  begin?(start: () => Promise<void>): Promise<void>;
}

/** A request that is done under an id: its own, where it has one. */
interface AskedOnce extends Pick<RunRequest, "asked"> {
  readonly key?: string | undefined;
  readonly id?: string | undefined;
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

export function describeSubmitted(submitted: Submitted): z.output<typeof acceptedRunSchema> {
  if (submitted.is === "new") {
    const { runId, definition } = submitted.prepared.start;
    const warnings = (definition.warnings ?? []).map(describeProblem);
    return { run_id: runId, status: "queued", ...(warnings.length > 0 && { warnings }) };
  }
  const { id, status } = submitted.record;
  return { run_id: id, status };
}

/**
 * Takes what starts runs of one server, through whatever door it comes, and knows what is being answered. The one place where an
 * idempotency key is looked at.
 */
export class Submissions {
  readonly #runner: Pick<RequestRunner, "run" | "start">;
  /** Keys whose request has not been answered yet. */
  readonly #inFlight = new Set<string>();

  constructor(runner: Pick<RequestRunner, "run" | "start">) {
    this.#runner = runner;
  }

  /** Records the run and does not wait for it. Throws what `prepare` throws, and as `run`. */
  async start<Prepared extends Startable>(
    app: Place & Principal & Stores,
    request: RunRequest<Prepared>,
  ): Promise<Submitted<Prepared>> {
    return this.#once(app, request, async (submitted) => {
      if (submitted.is === "known") return submitted;
      const { prepared } = submitted;
      const start = () => this.#runner.start(prepared.start);
      await (prepared.begin === undefined ? start() : prepared.begin(start));
      return submitted;
    });
  }

  /**
   * Waits until the run ends or waits itself. Throws `IDEMPOTENCY_MISMATCH` where the key came with another request before,
   * `IDEMPOTENCY_IN_FLIGHT` while that one is being answered. `listen` is told what happens in a new run.
   */
  async run(
    app: Place & Principal & Stores,
    request: RunRequest,
    listen?: (notice: RunNotice) => void,
  ): Promise<{ readonly runId: string; readonly ran: Ran }> {
    return this.#once(app, request, async (submitted) => {
      if (submitted.is === "new") {
        const { start } = submitted.prepared;
        return { runId: start.runId, ran: await this.#runner.run(start, listen) };
      }
      const { record } = submitted;
      const is = record.completedAt === undefined ? "parked" : "ended";
      return { runId: record.id, ran: { is, record } };
    });
  }

  /**
   * Does what starts none or several runs, under an id that is the same whenever the request comes with its key: `work` begins nothing
   * twice under one id, and has `claim` make the id durable before it begins anything. Throws as `run`.
   */
  async underOneId<T>(
    app: Place & Principal & Stores,
    { key, asked, id = randomUUID() }: AskedOnce,
    work: (id: string, claim: () => Promise<void>) => Promise<T>,
  ): Promise<T> {
    if (key === undefined) return work(id, async () => undefined);
    return this.#alone(app, key, async () => {
      const claimed = await openClaim(app, { asked, key });
      const one = claimed.given?.runId ?? id;
      return work(one, async () => {
        if ((await claimed.claim(one)).runId !== one) throw inFlight(key);
      });
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
    return this.#alone(app, key, async () => {
      const submitted = await claim(app, request, key);
      if (submitted.is === "known") return answer(submitted);
      const prepared = traced(submitted.prepared);
      try {
        return await answer({ is: "new", prepared });
      } catch (error) {
        // Another process has claimed the same key, and has begun the run in between.
        const record =
          isPawlError(error) && error.code === "RUN_ID_TAKEN" ? await find(app, prepared.start.runId) : undefined;
        if (record === undefined) throw error;
        return answer({ is: "known", record });
      }
    });
  }

  /** One request of a key at a time. */
  async #alone<T>({ tenantId }: Principal, key: string, work: () => Promise<T>): Promise<T> {
    const scoped = writeExact([tenantId ?? null, key]);
    if (this.#inFlight.has(scoped)) throw inFlight(key);
    this.#inFlight.add(scoped);
    try {
      return await work();
    } finally {
      this.#inFlight.delete(scoped);
    }
  }
}

function inFlight(key: string): PawlError {
  return new PawlError("IDEMPOTENCY_IN_FLIGHT", {
    message: `The request with the key "${shown(key)}" is still being answered.`,
  });
}

/** Keys of routes hold where they count as well, which is not what the client has sent. */
function shown(key: string): string {
  return key.split(" · ", 1)[0] ?? key;
}

/** Nothing that is refused leaves a trace: the key is claimed when the run could begin. */
async function claim<Prepared extends Startable>(
  app: Place & Principal & Stores,
  { asked, prepare }: RunRequest<Prepared>,
  key: string,
): Promise<Submitted<Prepared>> {
  const { given, claim } = await openClaim(app, { asked, key });
  const known = given === undefined ? undefined : await find(app, given.runId);
  if (known !== undefined) return { is: "known", record: known };
  const runId = given?.runId ?? newRunId(app.clock.now());
  const prepared = await prepare(runId);
  const claimed = await claim(runId);
  if (claimed.runId === runId) return { is: "new", prepared };
  // Another process was faster.
  const record = await find(app, claimed.runId);
  if (record !== undefined) return { is: "known", record };
  return { is: "new", prepared: { ...prepared, start: { ...prepared.start, runId: claimed.runId } } };
}

/** Who has the key: `given` has, and without it whoever claims first. Both throw `IDEMPOTENCY_MISMATCH`. */
async function openClaim(
  app: Place & Principal & Stores,
  { asked, key }: { readonly asked: object; readonly key: string },
) {
  const { idempotency } = await app.service();
  const requestHash = hashOfAsked(asked);
  const owner = { tenantId: app.tenantId, key, at: app.clock.now() };
  const checked = <Given extends GivenKey | undefined>(given: Given): Given => {
    if (given === undefined || given.requestHash === requestHash) return given;
    throw new PawlError("IDEMPOTENCY_MISMATCH", {
      message: `The key "${shown(key)}" came with another request before.`,
    });
  };
  const given = checked(await idempotency.find(owner));
  return { given, claim: async (runId: string) => checked(await idempotency.claim({ ...owner, requestHash, runId })) };
}

/** Undefined: the process that claimed the key died before the run began. */
async function find(app: Stores, runId: string): Promise<RunRecord | undefined> {
  const record = await (await app.records()).journal.findRun(runId);
  return record === "ambiguous" ? undefined : record;
}
