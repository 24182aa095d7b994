import { PawlError } from "../../src/core/errors/pawl-error.ts";
import type { Graph } from "../../src/core/graph/graph.ts";
import type { Event, EventType } from "../../src/core/history/events.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { LocalHost } from "../../src/hosts/local/local-host.ts";
import type { LocalHostOptions } from "../../src/hosts/local/local-host-options.ts";
import type { RunNotice, RunStart } from "../../src/hosts/run-host.ts";
import type { Blobs } from "../../src/ports/blobs.ts";
import type { Asks, Executor, Failed, Outcome, SettleCall, Succeeded, Task } from "../../src/ports/executor.ts";
import type { FileStorage } from "../../src/ports/file-storage.ts";
import type { Append, AppendResult, Journal, RunRecord } from "../../src/ports/journal.ts";
import { FakeClock } from "../fakes/fake-clock.ts";
import { MemoryBlobs } from "../support/memory/memory-blobs.ts";
import { MemoryFileStorage } from "../support/memory/memory-file-storage.ts";
import { MemoryJournal } from "../support/memory/memory-journal.ts";

export type Play = (task: Task, signal: AbortSignal) => Outcome | Asks | Promise<Outcome | Asks>;

export function succeed(output: Json, costMicro = 0): Succeeded {
  return { status: "succeeded", output, costMicro };
}

/** Sends a call that is paid for. Throws what comes instead of its reservation. */
export async function send(task: Task, atMostMicro: number): Promise<SettleCall> {
  const reservation = await task.reserve({ atMostMicro, payee: "test" });
  if ("status" in reservation) throw reservation;
  const settle = await reservation.record();
  return (...told) => {
    settle(...told);
    reservation.release();
  };
}

/** Pays for one call, as agents do, and succeeds. */
export function spends(costMicro: number, more: Partial<Succeeded> = {}): Play {
  return async (task) => {
    const reservation = await task.reserve({ atMostMicro: costMicro, payee: "test" });
    if ("status" in reservation) return reservation;
    (await reservation.record())(costMicro);
    reservation.release();
    return { ...succeed("x", costMicro), ...more };
  };
}

export function fail(code: string, more: Partial<Failed> = {}): Failed {
  return {
    status: "failed",
    code,
    message: `${code} happened.`,
    retryable: false,
    effect: "unknown",
    costMicro: 0,
    ...more,
  };
}

export function ask(key: string, more: Partial<Asks> = {}): Asks {
  return { status: "asks", key, message: `May ${key} be?`, show: { what: key }, costMicro: 0, ...more };
}

/** Resolves when the executor is told to stop. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

export interface WorldOptions {
  /** What a step's executor does, by step id. Others succeed with their input. */
  readonly plays?: { readonly [stepId: string]: Play };
  readonly callable?: { readonly [name: string]: Graph };
  readonly journal?: Journal;
  readonly blobs?: Blobs;
  readonly files?: FileStorage;
  readonly clock?: FakeClock;
  readonly recordsInput?: boolean;
  readonly host?: Partial<LocalHostOptions>;
}

/** A host on memory and standing time, whose executor does what a test says. */
export class World {
  readonly journal: Journal;
  readonly blobs: Blobs;
  readonly files: FileStorage;
  readonly clock: FakeClock;
  readonly host: LocalHost;
  /** Every call of the executor, in order. */
  readonly calls: Task[] = [];
  readonly defects: unknown[] = [];
  readonly #options: WorldOptions;

  constructor(options: WorldOptions = {}) {
    this.#options = options;
    this.journal = options.journal ?? new MemoryJournal();
    this.blobs = options.blobs ?? new MemoryBlobs();
    this.files = options.files ?? new MemoryFileStorage();
    this.clock = options.clock ?? new FakeClock();
    const executor: Executor = {
      recordsInput: options.recordsInput ?? false,
      run: async (task, signal) => {
        this.calls.push(task);
        return (options.plays?.[task.stepId] ?? (() => succeed(task.input)))(task, signal);
      },
    };
    this.host = new LocalHost({
      journal: this.journal,
      blobs: this.blobs,
      files: this.files,
      clock: this.clock,
      findExecutor: async () => executor,
      resolveCall: async ({ workflow, input }) => {
        const graph = options.callable?.[String(workflow)];
        if (graph === undefined)
          throw new PawlError("WORKFLOW_NOT_FOUND", { message: `No workflow "${String(workflow)}".` });
        return { definition: { text: "", graph }, input: input as JsonObject };
      },
      mask: (unmasked) => unmasked,
      env: () => undefined,
      onDefect: (error) => this.defects.push(error),
      ...options.host,
    });
  }

  /** Another process that takes over what is on the disk. */
  next(options: WorldOptions = {}): World {
    const { journal, blobs, files, clock } = this;
    return new World({ ...this.#options, journal, blobs, files, clock, ...options });
  }

  start(graph: Graph, input: JsonObject = {}, more: Partial<RunStart> = {}): Promise<RunRecord> {
    return this.host.startRun({ definition: { text: "", graph }, input, ...more });
  }

  /** Starts and waits until it has ended or only waits. */
  async run(graph: Graph, input: JsonObject = {}, more: Partial<RunStart> = {}): Promise<RunRecord> {
    const { id } = await this.start(graph, input, more);
    return this.host.settled(id);
  }

  async recordOf(runId: string): Promise<RunRecord> {
    const record = await this.journal.findRun(runId);
    if (record === undefined || record === "ambiguous") throw new Error(`No run ${runId}.`);
    return record;
  }

  async eventsOf(runId: string): Promise<readonly Event[]> {
    const { no } = await this.recordOf(runId);
    const rows = await this.journal.readEvents(no, { afterSeq: 0, limit: 100_000 });
    return rows.map(({ event }) => event);
  }

  async typesOf(runId: string): Promise<readonly EventType[]> {
    return (await this.eventsOf(runId)).map(({ type }) => type);
  }

  /** Values of all events of a type that have one. */
  async valuesOf(runId: string, type: EventType): Promise<readonly string[]> {
    const { no } = await this.recordOf(runId);
    const events = await this.eventsOf(runId);
    const values: string[] = [];
    for (const [index, event] of events.entries()) {
      const value = event.type === type ? await this.journal.readValue(no, index + 1) : undefined;
      if (value !== undefined) values.push(value);
    }
    return values;
  }

  /** What a step's instance brought, as it is stored. */
  async outputOf(runId: string, path: string): Promise<Json | undefined> {
    const { no } = await this.recordOf(runId);
    const events = await this.eventsOf(runId);
    const seq = events.findIndex((event) => event.type === "stepSucceeded" && event.path === path) + 1;
    const stored = seq === 0 ? undefined : await this.journal.readValue(no, seq);
    if (stored === undefined) return undefined;
    const json = stored.startsWith("~") ? new TextDecoder().decode(await this.blobs.get(stored.slice(1))) : stored;
    return JSON.parse(json) as Json;
  }

  notices(runId: string): RunNotice[] {
    const notices: RunNotice[] = [];
    this.host.watch(runId, (notice) => notices.push(notice));
    return notices;
  }
}

type AppendAs = (entries: readonly Append[], append: Journal["append"]) => Promise<readonly AppendResult[]>;

/** A journal whose `append` a test has in its hands; everything else goes through. */
export function journalWith(journal: Journal, appendAs: AppendAs): Journal {
  const append = (entries: readonly Append[]) => journal.append(entries);
  return new Proxy(journal, {
    get(target, name) {
      if (name === "append") return (entries: readonly Append[]) => appendAs(entries, append);
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}
