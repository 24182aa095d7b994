import { setTimeout } from "node:timers/promises";
import type { ErrorCode } from "../../core/errors/error-table.ts";
import { isStorageFailure } from "../../core/errors/is-storage-failure.ts";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import { parseExact, writeExact } from "../../core/exact-json.ts";
import type { Json } from "../../core/json.ts";
import type { Inbox, SentRefusal, SentRequest } from "../../ports/inbox.ts";
import type { Journal, RunRecord } from "../../ports/journal.ts";
import type { RunRelay } from "../../ports/run-relay.ts";
import type { RunSecrets } from "../../ports/run-secrets.ts";
import { neededPrograms } from "../../ports/step-functions.ts";
import { type BudgetView, NO_BUDGETS } from "../../ports/waits.ts";
import {
  EVERY_RUN,
  type RunHost,
  type RunNotice,
  type RunRequest,
  type RunStart,
  type SettledRun,
} from "../run-host.ts";
import { RemoteWatch, toRelayed } from "./remote-watch.ts";

export interface SharedHostParts {
  /** Drives the runs of this process. */
  readonly local: LocalDriver;
  readonly journal: Journal;
  readonly inbox: Inbox;
  /** Absent: what is not in the journal is seen only in the process that drives a run. */
  readonly relay?: RunRelay | undefined;
  /** False: what it starts is driven by others. */
  readonly drives: boolean;
  readonly secrets: Pick<RunSecrets, "seal" | "open">;
  onDefect(error: unknown): void;
}

interface LocalDriver extends RunHost {
  /** `id`: the request of another process, which is answered in the commit of what it causes. */
  request(runId: string, request: RunRequest, id?: number): Promise<RunRecord>;
  /** Goes on with runs that are due and that no process drives. */
  takeUpDue(): Promise<unknown>;
  /** A run that only waits until then is at rest. */
  isFar(wakeAt: number | undefined): boolean;
}

const LOOK_AGAIN_MS = 200;
/** How long a request waits for the process that drives its run. */
const PATIENCE_MS = 30_000;

/** One of several hosts over one journal. A request for a run that another host drives goes there through the inbox. */
export class SharedHost implements RunHost {
  readonly #parts: SharedHostParts;
  /** Requests of other processes that are under way here. */
  readonly #underWay = new Set<number>();
  readonly #stopWatching: () => void;
  readonly #stopTelling: (() => void) | undefined;
  #looking: Promise<void> | undefined;
  #mustLookAgain = false;
  #changed = Promise.withResolvers<void>();
  #asksOn = true;
  #isClosed = false;

  constructor(parts: SharedHostParts) {
    this.#parts = parts;
    this.#stopWatching = parts.inbox.watch(() => this.#wake());
    this.#stopTelling = parts.relay?.serve((runId, tell) =>
      parts.local.watch(runId, (notice) => {
        const relayed = toRelayed(notice);
        if (relayed !== undefined) tell(relayed);
      }),
    );
  }

  get driving(): number {
    return this.#parts.local.driving;
  }

  recover(): Promise<{ readonly resumed: number }> {
    return this.#parts.local.recover();
  }

  async startRun(start: RunStart): Promise<RunRecord> {
    const { local, inbox, drives, onDefect } = this.#parts;
    const record = await local.startRun(start);
    const isProgram = start.lineage !== undefined && neededPrograms(start.definition).length > 0;
    // They would find it by themselves, a moment later.
    if (!drives || isProgram) inbox.tell().catch(onDefect);
    return record;
  }

  budgetView(runs: readonly string[]): BudgetView {
    return this.#parts.local.budgetView?.(runs) ?? NO_BUDGETS;
  }

  deleteRun(runId: string): Promise<void> {
    return this.#parts.local.deleteRun(runId);
  }

  watch(runId: string, listen: (notice: RunNotice) => void): () => void {
    const { local, journal, relay } = this.#parts;
    // What another process cannot write, this one perhaps can; and it may never hear that the other one can again.
    if (runId === EVERY_RUN) return local.watch(runId, listen);
    const remote = new RemoteWatch({ journal, runId, listen, changed: () => this.#changed.promise });
    const stop = local.watch(runId, (notice) => remote.receive(notice));
    const stopRelay = relay?.watch(runId, (notice) => remote.relayed(notice));
    return () => {
      stop();
      stopRelay?.();
      remote.stop();
    };
  }

  async settled(runId: string): Promise<SettledRun> {
    const { local } = this.#parts;
    for (;;) {
      try {
        return await local.settled(runId);
      } catch (error) {
        if (!isDrivenElsewhere(error)) throw error;
      }
      const record = await this.#find(runId);
      const isAtRest = record.parked && local.isFar(record.wakeAt);
      if (record.completedAt !== undefined || isAtRest || this.#isClosed) return record;
      await setTimeout(LOOK_AGAIN_MS);
    }
  }

  stopAsking(): void {
    this.#asksOn = false;
    this.#changed.resolve();
  }

  async park(force: AbortSignal, hold?: string): Promise<void> {
    this.#isClosed = true;
    this.#stopWatching();
    this.#stopTelling?.();
    const { local, inbox, onDefect } = this.#parts;
    await local.park(force, hold);
    await this.#looking;
    await inbox.tell().catch(onDefect);
  }

  // --- Requests to other processes ---

  async request(runId: string, request: RunRequest): Promise<RunRecord> {
    const { local, inbox, secrets } = this.#parts;
    for (;;) {
      try {
        return await local.request(runId, request);
      } catch (error) {
        if (!isDrivenElsewhere(error)) throw error;
      }
      const { no, id } = await this.#find(runId);
      const sent = await inbox.send(no, secrets.seal(writeExact(request)));
      const answer = await this.#answerTo(sent, id);
      // The run has ended before the request was read: here it is refused in the same words.
      if (answer === "ended") continue;
      if (answer.refusal !== undefined) throw toError(answer.refusal);
      return this.#find(runId);
    }
  }

  async #answerTo(sent: number, runId: string): Promise<{ readonly refusal: SentRefusal | undefined } | "ended"> {
    const { inbox } = this.#parts;
    const until = performance.now() + PATIENCE_MS;
    for (;;) {
      const { promise: changed } = this.#changed;
      const answer = await inbox.readAnswer(sent);
      if (answer !== undefined) {
        await inbox.forget(sent);
        return answer;
      }
      const isEnded = (await this.#find(runId)).completedAt !== undefined;
      const isSilent = performance.now() > until;
      if ((isEnded || isSilent || !this.#asksOn) && (await inbox.withdraw(sent))) {
        if (isEnded) return "ended";
        if (!isSilent) throw new PawlError("SERVER_STOPPING", { message: "This process stops. Nothing was done." });
        throw new PawlError("OWNER_SILENT", {
          message: `The process that drives the run ${runId} has not answered for ${PATIENCE_MS / 1_000} s. Nothing was done.`,
          remedy: "Ask again: another process takes the run over when that one is gone.",
        });
      }
      await Promise.race([changed, setTimeout(LOOK_AGAIN_MS)]);
    }
  }

  async #find(runId: string): Promise<RunRecord> {
    const record = await this.#parts.journal.findRun(runId);
    if (record === undefined) throw new PawlError("RUN_NOT_FOUND", { message: `There is no run "${runId}".` });
    if (record === "ambiguous") throw new PawlError("RUN_AMBIGUOUS", { message: `"${runId}" fits more than one run.` });
    return record;
  }

  // --- Requests of other processes ---

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
    this.#mustLookAgain = true;
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
  }

  async #look(): Promise<void> {
    const { local, inbox, onDefect } = this.#parts;
    while (this.#mustLookAgain && !this.#isClosed) {
      this.#mustLookAgain = false;
      try {
        await local.takeUpDue();
        for (const request of await inbox.list()) if (!this.#underWay.has(request.id)) void this.#perform(request);
      } catch (error) {
        // It looks again soon, by itself.
        if (!isStorageFailure(error)) onDefect(error);
      }
    }
  }

  async #perform({ id, runId, body }: SentRequest): Promise<void> {
    const { local, inbox, secrets, onDefect } = this.#parts;
    this.#underWay.add(id);
    try {
      const request = parseExact(secrets.open(body)) as RunRequest;
      await local.request(runId, request, id);
      await inbox.answer(id, undefined);
    } catch (error) {
      // The process that drives the run next answers it.
      if (isDrivenElsewhere(error) || isStorageFailure(error)) return;
      if (!isPawlError(error)) onDefect(error);
      await inbox.answer(id, toRefusal(error)).catch(onDefect);
    } finally {
      this.#underWay.delete(id);
    }
  }
}

function isDrivenElsewhere(error: unknown): boolean {
  return isPawlError(error) && (error.code === "RUN_ELSEWHERE" || error.code === "OWNER_GONE");
}

function toRefusal(error: unknown): SentRefusal {
  if (!isPawlError(error))
    return { code: "OWNER_GONE", message: "The request has failed there.", remedy: "Ask again." };
  const { code, message, remedy, details } = error;
  return { code, message, remedy, ...(details === undefined ? {} : { details }) };
}

function toError({ code, message, remedy, details }: SentRefusal): PawlError {
  const told = details === undefined ? {} : { details: details as Json };
  return new PawlError(code as ErrorCode, { message, remedy, ...told });
}
