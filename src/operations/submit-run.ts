import { createHash } from "node:crypto";
import { PawlError } from "../core/errors/pawl-error.ts";
import { newRunId } from "../hosts/local/new-run-id.ts";
import { readTraceParent, TRACE_OPTION } from "../hosts/trace-context.ts";
import type { GivenKey } from "../ports/idempotency-keys.ts";
import type { RunRecord } from "../ports/journal.ts";
import type { Application } from "./application.ts";
import type { PreparedRun } from "./prepare-run.ts";
import { prepareSubmission, type Submission } from "./prepare-submission.ts";
import type { Ran, RequestRunner } from "./request-runner.ts";

interface SubmitRequest {
  readonly submission: Submission;
  /** The same key and the same request have the same run for 24 hours. */
  readonly idempotencyKey?: string;
  /** W3C trace context of whoever asks; no part of the request, as each try has another. */
  readonly traceParent?: string | undefined;
}

/** What became of a request: a run of its own, or the run that an equal request has had. */
type Submitted =
  | { readonly is: "new"; readonly prepared: PreparedRun }
  | { readonly is: "known"; readonly record: RunRecord };

/** Takes submissions of one server; knows those that are being answered. */
export class Submissions {
  readonly #runner: Pick<RequestRunner, "run" | "start">;
  /** Keys whose request has not been answered yet. */
  readonly #inFlight = new Set<string>();

  constructor(runner: Pick<RequestRunner, "run" | "start">) {
    this.#runner = runner;
  }

  /** Records the run and does not wait for it. Throws what `prepareSubmission` throws, and as `run`. */
  async start(
    app: Application,
    request: SubmitRequest,
  ): Promise<{ readonly runId: string; readonly record?: RunRecord }> {
    return this.#once(app, request, async (submitted) => {
      if (submitted.is === "known") return { runId: submitted.record.id, record: submitted.record };
      await this.#runner.start(submitted.prepared);
      return { runId: submitted.prepared.runId };
    });
  }

  /**
   * Waits until the run ends or waits itself. Throws `IDEMPOTENCY_MISMATCH` where the key came with another request before,
   * `IDEMPOTENCY_IN_FLIGHT` while that one is being answered.
   */
  async run(app: Application, request: SubmitRequest): Promise<{ readonly runId: string; readonly ran: Ran }> {
    return this.#once(app, request, async (submitted) => {
      if (submitted.is === "new") {
        const { prepared } = submitted;
        return { runId: prepared.runId, ran: await this.#runner.run(prepared) };
      }
      const { record } = submitted;
      const is = record.completedAt === undefined ? "parked" : "ended";
      return { runId: record.id, ran: { is, record } };
    });
  }

  async #once<T>(app: Application, request: SubmitRequest, answer: (submitted: Submitted) => Promise<T>): Promise<T> {
    const { submission, idempotencyKey: key } = request;
    const traced = (prepared: PreparedRun) => withTrace(prepared, request.traceParent);
    if (key === undefined) return answer({ is: "new", prepared: traced(await prepareSubmission(app, submission)) });
    const scoped = JSON.stringify([app.tenantId ?? null, key]);
    if (this.#inFlight.has(scoped)) {
      throw new PawlError("IDEMPOTENCY_IN_FLIGHT", {
        message: `The request with the key "${key}" is still being answered.`,
      });
    }
    this.#inFlight.add(scoped);
    try {
      const submitted = await claim(app, submission, key);
      return await answer(submitted.is === "new" ? { is: "new", prepared: traced(submitted.prepared) } : submitted);
    } finally {
      this.#inFlight.delete(scoped);
    }
  }
}

function withTrace(prepared: PreparedRun, sent: string | undefined): PreparedRun {
  const traceParent = readTraceParent(sent);
  if (traceParent === undefined) return prepared;
  return { ...prepared, options: { ...prepared.options, [TRACE_OPTION]: traceParent } };
}

/** Nothing that is refused leaves a trace: the key is claimed when the run could begin. */
async function claim(app: Application, submission: Submission, key: string): Promise<Submitted> {
  const { idempotency } = await app.service();
  const requestHash = createHash("sha256").update(JSON.stringify(submission)).digest("hex");
  const owner = { ...(app.tenantId === undefined ? {} : { tenantId: app.tenantId }), key, at: app.clock.now() };
  const given = await idempotency.find(owner);
  const known = given === undefined ? undefined : await readKnown(app, given, { key, requestHash });
  if (known !== undefined) return known;
  const runId = given?.runId ?? newRunId(owner.at);
  const prepared = await prepareSubmission(app, { ...submission, runId });
  const claimed = await idempotency.claim({ ...owner, requestHash, runId });
  if (claimed.runId === runId) return { is: "new", prepared };
  // Another process was faster.
  return (
    (await readKnown(app, claimed, { key, requestHash })) ?? {
      is: "new",
      prepared: { ...prepared, runId: claimed.runId },
    }
  );
}

/** Undefined: the process that claimed the key died before the run began. */
async function readKnown(
  app: Application,
  given: GivenKey,
  { key, requestHash }: { readonly key: string; readonly requestHash: string },
): Promise<Submitted | undefined> {
  if (given.requestHash !== requestHash) {
    throw new PawlError("IDEMPOTENCY_MISMATCH", { message: `The key "${key}" came with another request before.` });
  }
  const record = await (await app.records()).journal.findRun(given.runId);
  return record === undefined || record === "ambiguous" ? undefined : { is: "known", record };
}
