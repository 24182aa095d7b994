import { ChurnMap } from "../../core/churn-map.ts";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Instance, RunState } from "../../core/history/run-state.ts";
import type { DeathOfProcess } from "../../core/interpreter/attempt/crashes.ts";
import { isParked, nextTimerAt } from "../../core/interpreter/run-status.ts";
import { START_TIMER } from "../../core/interpreter/timers.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { ClaimedRun, RunNo, RunRecord } from "../../ports/journal.ts";
import type { FindExecutor } from "../executors.ts";
import { UseTracker } from "../session/budgets/use-tracker.ts";
import { loadOutputs, tellHeld } from "../session/finish-run.ts";
import { LiveRun, type LiveRunHooks, type LiveRunParts } from "../session/live-run.ts";
import { rebuildRun } from "../session/rebuild-run.ts";
import { loadReusable } from "../session/reuse/reuse.ts";
import { CostLookUp, OpenCalls } from "../session/tasks/lost-calls.ts";
import { RunValues, type ValueSources } from "../session/values/run-values.ts";
import { filesOfTenant } from "../tenant-files.ts";
import { findRecord, readRecord } from "./find-record.ts";
import type { HostParts } from "./host-parts.ts";

/** A parked run whose timer is nearer than this stays in memory. */
const KEEP_LOADED_MS = 10_000;

interface LoadedRunsParts extends HostParts {
  readonly hooks: LiveRunHooks;
  /** Throws if the process is parking its runs. */
  refuseWhenParking(): void;
  /** Another process may drive it. */
  release(run: RunNo): void;
  /** The run leaves memory: what is kept for it can go. */
  unloaded(run: LiveRun): void;
  /** The run waits long, and only its rows remain. */
  parked(run: LiveRun): void;
}

/** The runs in the memory of this process. They are loaded when something happens to them, and leave when they only wait. */
export class LoadedRuns {
  readonly #parts: LoadedRunsParts;
  readonly #runs = new ChurnMap<RunNo, LiveRun>();
  readonly #byId = new ChurnMap<string, LiveRun>();
  readonly #loading = new Map<RunNo, Promise<LiveRun>>();
  readonly #givenUp = new Set<RunNo>();

  constructor(parts: LoadedRunsParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#runs.size;
  }

  get numbers(): readonly RunNo[] {
    return [...this.#runs.keys()];
  }

  byNo(no: RunNo): LiveRun | undefined {
    return this.#runs.get(no);
  }

  byId(runId: string): LiveRun | undefined {
    return this.#byId.get(runId);
  }

  add(parts: Omit<LiveRunParts, "values">): LiveRun {
    const run = new LiveRun({ ...parts, values: this.#valuesOf(parts) }, this.#parts.hooks);
    this.#runs.set(run.no, run);
    this.#byId.set(run.runId, run);
    return run;
  }

  #valuesOf({ no, about }: Pick<LiveRunParts, "no" | "about">): RunValues {
    return new RunValues(no, this.#sourcesFor(about));
  }

  /** A tenant's runs read the tenant's files. */
  #sourcesFor({ tenantId }: { readonly tenantId?: string }): ValueSources {
    const { sources } = this.#parts;
    return tenantId === undefined ? sources : { ...sources, files: filesOfTenant(sources.files, tenantId) };
  }

  /** Leaves a run alone that is in memory already: two sessions would be two writers. */
  async load(record: RunRecord): Promise<LiveRun> {
    const known = this.#runs.get(record.no);
    if (known !== undefined) return this.#takePlace(known, record);
    const loading = this.#loading.get(record.no) ?? this.#rebuild(record);
    this.#loading.set(record.no, loading);
    try {
      return this.#takePlace(await loading, record);
    } finally {
      this.#loading.delete(record.no);
    }
  }

  /** A run in line rests until it is given a place, in the commit of whoever has left it. */
  #takePlace(run: LiveRun, { parked }: RunRecord): LiveRun {
    const { queued, timers } = run.state;
    if (queued !== undefined && !timers.has(START_TIMER) && !parked)
      run.apply({ type: "placeTaken", at: this.#parts.clock.now() });
    return run;
  }

  /** Goes on with a run where its last process has left it. Throws `RUN_ELSEWHERE` where another process drives it. */
  async #rebuild({ no, id }: RunRecord): Promise<LiveRun> {
    try {
      const about = await this.#parts.journal.claim(no);
      if (about !== undefined) return await this.#goOn(about);
    } catch (error) {
      // Also one that was claimed before, and could not be read now: it is found again.
      this.#parts.release(no);
      throw error;
    }
    throw new PawlError("RUN_ELSEWHERE", { message: `Another process drives the run ${id}.` });
  }

  async #goOn(about: ClaimedRun): Promise<LiveRun> {
    const { journal, clock, graphs, ledger, warnings, secrets, previousSeenAt, env, findExecutor } = this.#parts;
    const { no } = about;
    const tracker = new UseTracker();
    const openCalls = new OpenCalls();
    const rebuilt = await rebuildRun(journal, about, graphs.byHash, (at, event) => {
      tracker.observe(at, event);
      openCalls.observe(at.seq, event);
    });
    const { state, options, lineage, sealed, wanted } = rebuilt;
    tracker.assume(state);
    const reusable = lineage === undefined ? undefined : await loadReusable(journal, lineage);
    // Neither giving up a run nor handing it over is the death of a process.
    const wasGivenUp = this.#givenUp.delete(no) || about.lostAt === null;
    const traits = await findWorkTraits(findExecutor, state, options);
    const runsElsewhere = wasGivenUp ? () => true : traits.runsElsewhere;
    const diedAt = about.lostAt ?? previousSeenAt ?? clock.now();
    const lost = wasGivenUp ? [] : openCalls.lost(state);
    const values = this.#valuesOf({ no, about });
    const costs = new CostLookUp({ state, options, values, lost, findExecutor, clock, diedAt });
    await costs.begin();
    const bound = await ledger.boundTo(about.id);
    // Read again: the row may have changed while this run was still in memory.
    const row = await readRecord(journal, no);
    const run = this.add({ no, about, isNew: false, state, options, row, reusable });
    try {
      ledger.enroll(run, { ...bound, tracker, isNew: false });
      warnings.enroll(run);
      for (const { seq, text } of sealed) run.values.reveal(seq, secrets.open(no, text));
      const at = clock.now();
      costs.tell((found) => {
        if (!run.isDiscarded && run.state.phase === "open") run.apply(found);
      });
      const { events, commands } =
        about.isNew === true
          ? { events: [], commands: wanted }
          : run.session.recovery({ at, diedAt, ...traits, runsElsewhere });
      for (const event of events) {
        run.apply(event);
        const instance = "path" in event ? state.active.get(event.path) : undefined;
        if (instance?.phase === "held") tellHeld(run, instance, env);
      }
      run.perform(commands);
      return run;
    } catch (error) {
      this.unload(run);
      throw error;
    }
  }

  /** Acts on a run that goes on, loading it if it was parked. `act` must begin in the turn in which the run was checked, or its events could be lost. */
  async with<T>(runId: string, act: (run: LiveRun) => Promise<T>): Promise<T> {
    for (;;) {
      this.#parts.refuseWhenParking();
      const record = await findRecord(this.#parts.journal, runId);
      refuseEnded(record);
      const run = await this.load(record).catch(async (error: unknown) => {
        // It may have ended since its record was read.
        refuseEnded(await findRecord(this.#parts.journal, runId));
        throw error;
      });
      if (run.state.phase === "finished") await run.durable();
      else if (!run.isDiscarded) {
        try {
          return await act(run);
        } finally {
          this.parkIfIdle(run);
        }
      }
    }
  }

  /** Unloads a run that waits long: only its rows remain. */
  parkIfIdle(run: LiveRun): void {
    const { state } = run;
    if (run.isDiscarded || run.isBusy || !isParked(state)) return;
    if (!this.isFar(nextTimerAt(state))) return;
    this.unload(run);
    this.#parts.parked(run);
  }

  isFar(wakeAt = Number.POSITIVE_INFINITY): boolean {
    return wakeAt - this.#parts.clock.now() >= KEEP_LOADED_MS;
  }

  /** It cannot go on in this process as it is, and is loaded again later. That is no death of the process. */
  giveUp(run: LiveRun): void {
    this.#givenUp.add(run.no);
    this.unload(run);
  }

  unload(run: LiveRun): void {
    run.leave();
    if (this.#runs.get(run.no) === run) this.#runs.delete(run.no);
    if (this.#byId.get(run.runId) === run) this.#byId.delete(run.runId);
    this.#parts.unloaded(run);
    if (run.state.phase !== "finished") this.#parts.release(run.no);
  }

  async outputsOf(no: RunNo): Promise<{ readonly record: RunRecord; readonly outputs: Json }> {
    const { journal, graphs } = this.#parts;
    const record = await readRecord(journal, no);
    const { state } = await rebuildRun(journal, record, graphs.byHash);
    const values = new RunValues(no, this.#sourcesFor(record));
    return { record, outputs: await loadOutputs({ state, values }) };
  }
}

function refuseEnded({ id, completedAt, status }: RunRecord): void {
  if (completedAt === undefined) return;
  throw new PawlError("RUN_FINISHED", { message: `The run ${id} has ended: ${status}.` });
}

type WorkTraits = Pick<DeathOfProcess, "runsElsewhere" | "reservesCalls">;

/**
 * Finds what executors say of the work of tasks in flight: whether it is done elsewhere, so that it cannot have taken the process
 * down, and whether each call is on record before it is sent. Of an executor that is not found any more neither is known.
 */
async function findWorkTraits(findExecutor: FindExecutor, state: RunState, options: JsonObject): Promise<WorkTraits> {
  const elsewhere = new Set<Instance>();
  const reserving = new Set<Instance>();
  for (const instance of state.active.values()) {
    const { step } = instance.step;
    if (instance.phase !== "dispatched" || step.kind !== "task") continue;
    const { settings } = instance.scope.frame.graph.graph;
    const executor = await findExecutor(step.executor, { options, settings }).catch(() => undefined);
    if (executor?.runsElsewhere === true) elsewhere.add(instance);
    if (executor?.reservesCalls === true) reserving.add(instance);
  }
  return { runsElsewhere: (instance) => elsewhere.has(instance), reservesCalls: (instance) => reserving.has(instance) };
}
