import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import type { SentKey } from "../../core/history/events.ts";
import type { RunState } from "../../core/history/run-state.ts";
import { isParked } from "../../core/interpreter/run-status.ts";
import type { RunRecord } from "../../ports/journal.ts";
import type { ApprovalAnswer, RunRequest } from "../run-host.ts";
import {
  openFor,
  recordAnswer,
  refuseAnswered,
  refuseForbiddenEdit,
  storeAnswer,
} from "../session/approvals/answer-approval.ts";
import { rebuildRun } from "../session/rebuild-run.ts";
import { toStoredValue } from "../session/values/stored-value.ts";
import { findRecord, readRecord } from "./find-record.ts";
import type { HostParts } from "./host-parts.ts";
import type { LoadedRuns } from "./loaded-runs.ts";

const MAX_UNREAD_SIGNALS = 1_000;

interface RunRequestsParts extends HostParts {
  readonly runs: LoadedRuns;
  /** Throws if the process is parking its runs. */
  refuseWhenParking(): void;
}

/** Requests of people and programs to a run: resume, cancel, answer, signal. Durable when a promise resolves. */
export class RunRequests {
  readonly #parts: RunRequestsParts;

  constructor(parts: RunRequestsParts) {
    this.#parts = parts;
  }

  /** `id`: the request of another process, which is answered in the commit of the event that it causes. */
  async perform(runId: string, request: RunRequest, id?: number): Promise<RunRecord> {
    switch (request.type) {
      case "resume":
        return this.resume(runId, request.releases === true);
      case "cancel": {
        const { type: _, ...options } = request;
        return this.cancel(runId, options, id);
      }
      case "answer":
        return this.answer(runId, request.path, request.answer, id);
      case "signal":
        return this.signal(runId, request, id);
    }
  }

  async resume(runId: string, releases: boolean): Promise<RunRecord> {
    const { journal, clock, runs, refuseWhenParking } = this.#parts;
    const record = await findRecord(journal, runId);
    if (record.completedAt === undefined) {
      refuseWhenParking();
      const run = await runs.load(record);
      const { isHeld, stepsHeld, place, queued } = run.state;
      // At rest it has given its place away.
      const again =
        place !== undefined && place.waitMs === undefined && isParked(run.state) ? ({ queues: true } as const) : {};
      if (queued === undefined && releases && stepsHeld > 0)
        run.apply({ type: "runResumed", at: clock.now(), releases: true, ...again });
      else if (queued === undefined && isHeld) run.apply({ type: "runResumed", at: clock.now(), ...again });
      runs.parkIfIdle(run);
    }
    return readRecord(journal, record.no);
  }

  cancel(
    runId: string,
    { once, ...options }: { readonly by?: string; readonly reason?: string; readonly once?: boolean },
    id: number | undefined,
  ): Promise<RunRecord> {
    const { clock, runs } = this.#parts;
    return runs.with(runId, async (run) => {
      if (once !== true || run.state.stopping === undefined)
        run.apply({ type: "cancelRequested", at: clock.now(), ...options });
      run.addAnswer(id);
      await run.durable();
      return run.toRecord();
    });
  }

  async answer(
    runId: string,
    path: string,
    { asked: seq, who, ...answer }: ApprovalAnswer,
    id: number | undefined,
  ): Promise<RunRecord> {
    const { journal, clock, runs, ledger, writer, graphs } = this.#parts;
    const asked = { path, asked: seq };
    try {
      // Checked before the data is stored: it may be large, and a refused answer should leave no trace.
      if (answer.edited !== undefined)
        await runs.with(runId, async (run) => refuseForbiddenEdit(openFor(run, asked, answer, who)));
      const stored = await storeAnswer(answer, writer);
      await ledger.refresh();
      return await runs.with(runId, async (run) => {
        if (recordAnswer(run, asked, { answer, who, stored, at: clock.now(), ledger })) run.addAnswer(id);
        await run.durable();
        return run.toRecord();
      });
    } catch (error) {
      // An answer that comes after the first one has ended the run gets the same refusal as a moment before.
      if (isPawlError(error) && error.code === "RUN_FINISHED") {
        const { state } = await rebuildRun(journal, await findRecord(journal, runId), graphs.byHash);
        refuseAnswered(state, asked);
      }
      throw error;
    }
  }

  async signal(
    runId: string,
    { name, payload, key, path }: Omit<Extract<RunRequest, { readonly type: "signal" }>, "type">,
    id: number | undefined,
  ): Promise<RunRecord> {
    const { clock, runs, writer, journal, graphs } = this.#parts;
    const stored = await toStoredValue(payload, writer);
    if (stored === "too large") throw new PawlError("OUTPUT_TOO_LARGE", { message: "The payload is too large." });
    const signalled = runs.with(runId, async (run) => {
      if (isKnown(run.state, key)) {
        await run.durable();
        return run.toRecord();
      }
      if (path !== undefined && !isAwaited(run.state, path, name))
        throw new PawlError("EVENT_NOT_AWAITED", {
          message: `"${path}" does not wait for the event "${name}" any more.`,
        });
      if ((run.state.signals.get(name)?.length ?? 0) >= MAX_UNREAD_SIGNALS)
        throw new PawlError("SIGNALS_FULL", {
          message: `The run holds ${MAX_UNREAD_SIGNALS} unread signals "${name}".`,
        });
      const seq = run.apply({ type: "signalReceived", at: clock.now(), name, ...(key && { key }) }, stored.stored);
      run.values.keep(seq, stored.value, stored.bytes);
      run.addAnswer(id);
      await run.durable();
      return run.toRecord();
    });
    return signalled.catch(async (error: unknown) => {
      // The run may have ended by what is sent again.
      if (key === undefined || !isPawlError(error) || error.code !== "RUN_FINISHED") throw error;
      const record = await findRecord(journal, runId);
      if (isKnown((await rebuildRun(journal, record, graphs.byHash)).state, key)) return record;
      throw error;
    });
  }
}

/** Throws `IDEMPOTENCY_MISMATCH`. */
function isKnown({ signalKeys }: RunState, key: SentKey | undefined): boolean {
  const known = key && signalKeys.get(key.key);
  if (key === undefined || known === undefined || known === key.hash) return known !== undefined;
  throw new PawlError("IDEMPOTENCY_MISMATCH", { message: `The key "${key.key}" came with another signal before.` });
}

/** The step waits for the signal, or has been found by it before its wait was on record. */
function isAwaited({ active, signals }: RunState, path: string, name: string): boolean {
  const instance = active.get(path);
  if (instance?.step.step.kind !== "wait") return false;
  return instance.phase === "waiting" ? instance.signal === name : instance.phase === "binding" && !signals.has(name);
}
