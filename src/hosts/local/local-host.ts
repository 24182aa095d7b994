import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import type { Command } from "../../core/history/commands.ts";
import { newRunState } from "../../core/history/new-run-state.ts";
import { resultOf } from "../../core/interpreter/flow/end-scope.ts";
import { waitsForOthers } from "../../core/interpreter/run-status.ts";
import { START_TIMER } from "../../core/interpreter/timers.ts";
import type { JsonObject } from "../../core/json.ts";
import type { RunNo, RunRecord } from "../../ports/journal.ts";
import { neededPrograms } from "../../ports/step-functions.ts";
import type { BudgetView } from "../../ports/waits.ts";
import type { RunHost, RunNotice, RunRequest, RunStart, SettledRun } from "../run-host.ts";
import { queueNudge } from "../session/approvals/approval-webhooks.ts";
import { UseTracker } from "../session/budgets/use-tracker.ts";
import { finishRun, finishRunAtOnce } from "../session/finish-run.ts";
import type { LiveRun, LiveRunHooks } from "../session/live-run.ts";
import { newRunId, takeSlot, toNewRun, toRunStarted } from "../session/new-run.ts";
import { loadReusable } from "../session/reuse/reuse.ts";
import { hideLeaves } from "../session/secrets/secret-leaves.ts";
import { EngineSteps } from "../session/steps/engine-steps.ts";
import { TaskRunner } from "../session/task-runner.ts";
import { lengthOf, toStoredValue } from "../session/values/stored-value.ts";
import { deleteRun, RerunGuard } from "./delete-run.ts";
import { findRecord, refuseTaken } from "./find-record.ts";
import { type HostParts, openHostParts } from "./host-parts.ts";
import { LoadedRuns } from "./loaded-runs.ts";
import type { LocalHostOptions } from "./local-host-options.ts";
import { Outbox } from "./outbox.ts";
import { RunRequests } from "./run-requests.ts";
import { RunTimers } from "./run-timers.ts";
import { isSettled, RunWatchers, SettledRuns, stallNotice } from "./run-watchers.ts";
import { WakeUps } from "./wake-ups.ts";

/** A run that is due and yet parked on disk goes on here, and its commit is under way: it is not looked at again at once. */
const LOOK_AGAIN_MS = 100;

/** Why a run stops here that is no defect. */
const EXPECTED: ReadonlySet<string> = new Set(["OWNER_GONE", "RUN_ID_TAKEN", "PLACES_TAKEN"]);

const NOT_OURS: ReadonlySet<string> = new Set(["RUN_ELSEWHERE", "RUN_FINISHED", "RUN_NOT_FOUND", "OWNER_GONE"]);

/** Drives runs in this process: sessions with a commit queue over a journal, a clock and executors. */
export class LocalHost implements RunHost {
  readonly #options: LocalHostOptions;
  readonly #parts: HostParts;
  readonly #runs: LoadedRuns;
  readonly #requests: RunRequests;
  readonly #tasks: TaskRunner;
  readonly #steps: EngineSteps;
  readonly #timers: RunTimers;
  readonly #outbox: Outbox;
  readonly #wakeUps: WakeUps;
  readonly #watchers: RunWatchers;
  readonly #settled = new SettledRuns();
  readonly #reruns = new RerunGuard();
  /** The runs that were asked of this process, where it drives no others. */
  readonly #asked = new Set<RunNo>();
  readonly #released: RunNo[] = [];
  /** Of those that it has begun: another program has their functions, and nothing of them is done here. */
  readonly #handedOver = new Set<RunNo>();
  #releasing: Promise<void> = Promise.resolve();
  #isParking = false;

  constructor(options: LocalHostOptions) {
    const { clock, drives } = options;
    this.#options = options;
    this.#watchers = new RunWatchers(options.onDefect);
    const parts = openHostParts(options, (error) => this.#watchers.tellAll(stallNotice(error)));
    const broken = (run: LiveRun, error: unknown) => this.#abandon(run, error);
    const refuseWhenParking = () => this.#refuseWhenParking();
    this.#parts = parts;
    this.#runs = new LoadedRuns({
      ...parts,
      hooks: this.#hooksOf(parts, broken),
      refuseWhenParking,
      release: (no) => this.#release(no),
      unloaded: (run) => this.#unloaded(run),
      parked: (run) => {
        this.#settled.resolve(run.runId);
        this.#wakeUps.setAlarm().catch((error: unknown) => this.#wakeUps.retryLater(error));
      },
    });
    const runs = this.#runs;
    this.#requests = new RunRequests({ ...parts, runs, refuseWhenParking });
    this.#tasks = new TaskRunner({ ...parts, broken });
    this.#steps = new EngineSteps({ ...parts, broken });
    this.#timers = new RunTimers(clock, (run, timer) => {
      // One that was stopped, while what stops it was on its way to the record, would be on record for nothing.
      if (this.#isParking || !run.state.timers.has(timer)) return;
      if (timer === START_TIMER)
        return void this.#beginInSlot(run).catch((error: unknown) => this.#abandon(run, error));
      run.apply({ type: "timerFired", at: clock.now(), timer });
      queueNudge(run, timer, parts.env);
    });
    this.#outbox = new Outbox({ ...parts, files: options.files, outputsOf: (no) => runs.outputsOf(no) });
    this.#wakeUps = new WakeUps({
      ...parts,
      load: (record) => runs.load(record),
      room: () => (drives?.runs === "none" ? 0 : (drives?.concurrency ?? Number.POSITIVE_INFINITY) - runs.size),
      only: () => (drives?.runs === "own" ? [...this.#asked] : undefined),
      recover: () => this.recover(),
    });
  }

  #hooksOf(parts: HostParts, broken: LiveRunHooks["broken"]): LiveRunHooks {
    const { observer, isTracing = false } = this.#options;
    return {
      log: parts.queue,
      applied: (run, event) => {
        parts.ledger.applied(run, event);
        parts.warnings.applied(run);
      },
      finishAtOnce: (run, command) => finishRunAtOnce(run, command, parts),
      perform: (run, command) => this.#perform(run, command),
      notify: (run, notice) => this.#watchers.tell(run.runId, notice),
      hasWatchers: (runId) => this.#watchers.has(runId),
      observer,
      isTracing,
      afterCommit: (run) => this.#afterCommit(run),
      broken,
    };
  }

  /** What is kept for a run goes with it. */
  #unloaded(run: LiveRun): void {
    this.#timers.forget(run);
    this.#tasks.forget(run);
    this.#parts.ledger.leave(run);
    this.#parts.secrets.forget(run.no);
    // Others that wait for room, or for its place, are taken up at once; and so is a new one that has got a place.
    if (!this.#wakeUps.isFull && run.state.place === undefined) return;
    void Promise.resolve()
      .then(() => this.#releasing)
      .then(() => Promise.all([this.takeUpDue(), this.#cancelOvertaken()]))
      .catch((error: unknown) => this.#wakeUps.retryLater(error));
  }

  // --- The life of a run ---

  async startRun(start: RunStart): Promise<RunRecord> {
    this.#refuseWhenParking();
    if (start.runId !== undefined && start.hasNewId !== true)
      await refuseTaken(this.#options.journal, start.runId, this.#runs);
    const release = start.lineage === undefined ? undefined : this.#reruns.begin(start.lineage.run);
    try {
      const run = await this.#begin(start);
      const isHandedOver = this.#handedOver.has(run.no);
      await run.durable();
      // Another process may take it up before it is told of it.
      if (isHandedOver) await this.#releasing;
      return run.toRecord();
    } finally {
      release?.();
    }
  }

  async #begin(start: RunStart): Promise<LiveRun> {
    const { secrets } = this.#parts;
    const no = await this.#options.journal.reserveRun();
    try {
      return await this.#beginAs(no, start);
    } catch (error) {
      if (this.#runs.byNo(no) === undefined) secrets.forget(no);
      throw error;
    }
  }

  /** Pins the definition, stores the input, and applies `runStarted`: the core answers with the first commands. */
  async #beginAs(no: number, start: RunStart): Promise<LiveRun> {
    const { journal, clock } = this.#options;
    const { budgets, graphs, secrets, ledger, writer, tools } = this.#parts;
    await budgets.open();
    const { pinned, graph } = graphs.put(start.definition);
    const found = secrets.find(start);
    const secret = found instanceof Promise ? await found : found;
    const sealed = secrets.keep(no, secret);
    const stored = toStoredValue(hideLeaves(start.input, secret), writer);
    const input = stored instanceof Promise ? await stored : stored;
    if (input === "too large")
      throw new PawlError("INPUT_INVALID", { message: "The input is larger than an output may be." });
    const reusable = start.lineage === undefined ? undefined : await loadReusable(journal, start.lineage);
    const at = clock.now();
    const runId = start.runId ?? newRunId(at);
    const { tenantId, options = {} } = start;
    const bound = await ledger.bind({ runId, workflow: graph.graph.name, tenantId });
    const rate = await takeSlot(start, { at, rates: this.#parts.rates, tools });
    const about = toNewRun(start, { runId, at, pinned });
    const row = {
      status: "queued",
      parked: false,
      costMicro: 0,
      uncertainMicro: 0,
      openApprovals: 0,
      storedBytes: 0,
    } as const;
    if (this.#mayDrive(start)) {
      if (this.#options.drives?.runs === "own") this.#asked.add(no);
    } else this.#handedOver.add(no);
    const run = this.#runs.add({ no, about, isNew: true, state: newRunState(graph), options, row, reusable });
    run.addPins(pinned.pins);
    const storedInput = input.value as JsonObject;
    const seq = run.apply(
      { ...toRunStarted(start, { runId, at, storedInput, sealed, rate, tools }), ...lengthOf(input) },
      input.stored,
    );
    ledger.enroll(run, { ...bound, tracker: new UseTracker(), isNew: true });
    run.values.keep(seq, input.value, input.bytes);
    if (secret.length > 0) run.values.reveal(seq, secret);
    return run;
  }

  /** A run that needs programs is for a process that has them, where there are several. */
  #mayDrive({ definition }: RunStart): boolean {
    const { drives } = this.#options;
    return (
      drives === undefined || neededPrograms(definition).every((name) => drives.programs?.().includes(name) === true)
    );
  }

  /** Others of its key may have been late: then it is later too. */
  async #beginInSlot(run: LiveRun): Promise<void> {
    const { queued } = run.state;
    const { rates, clock } = this.#parts;
    const at = clock.now();
    const slot = queued?.type === "runStarted" ? queued.rate : undefined;
    const again = slot && (await (await rates?.())?.pass(slot, at));
    if (this.#isParking || run.isDiscarded || run.state.phase !== "open") return;
    run.apply({ type: "timerFired", at, timer: START_TIMER, ...(again === undefined ? {} : { again }) });
    // Another one may have come in the moment in which it gave its place back.
    if (run.state.place?.waitMs === undefined) return;
    await run.durable();
    await this.takeUpDue();
  }

  /** Performs what the core has decided, after the commit of the event that caused it. */
  #perform(run: LiveRun, command: Command): void {
    if (this.#options.drives?.runs === "none" || this.#handedOver.has(run.no)) return;
    if (this.#isParking && command.type !== "finishRun") {
      if (command.type === "startTask") this.#tasks.giveBack(run, command);
      return;
    }
    switch (command.type) {
      case "startTask":
        return this.#tasks.start(run, command);
      case "abortTask":
        return this.#tasks.abort(run, command.path, command.attempt);
      case "startTimer":
        return this.#timers.start(run, command.timer, command.at);
      case "stopTimer":
        return this.#timers.stop(run, command.timer);
      case "evaluateStep":
      case "projectStep":
      case "resolveCall":
      case "askApproval":
      case "beginWait":
      case "endWait":
        return this.#steps.perform(run, command);
      case "finishRun":
        finishRun(run, command, this.#parts).catch((error: unknown) => this.#abandon(run, error));
    }
  }

  /** A run that has ended leaves memory; one that only waits is parked. */
  #afterCommit(run: LiveRun): void {
    const { ledger } = this.#parts;
    const { state } = run;
    if (this.#options.drives?.runs === "none" || this.#handedOver.has(run.no)) return this.#runs.unload(run);
    if (this.#isParking) this.#letGo(run);
    if (!this.#settled.isEmpty && isSettled(run)) this.#settled.resolve(run.runId);
    if (state.phase !== "finished") {
      ledger.note(run);
      return this.#runs.parkIfIdle(run);
    }
    // A command of this commit may have ended the run: then the end is in the next one.
    if (!run.isDurable) return;
    ledger.end(run);
    this.#tasks.endRun(run);
    this.#runs.unload(run);
    if (state.graph.graph.ending.storagePath !== undefined) this.#outbox.schedule();
  }

  async settled(runId: string): Promise<SettledRun> {
    const run = this.#runs.byId(runId) ?? (await this.#underWay(runId));
    if (run !== undefined) {
      const settled = isSettled(run) ? undefined : this.#settled.wait(run.runId);
      this.#runs.parkIfIdle(run);
      await settled;
    }
    await this.#outbox.idle();
    if (run?.state.phase !== "finished" || !run.isDurable) return findRecord(this.#options.journal, runId);
    const { root, ending } = run.state;
    const hasOutput = root !== undefined && (ending?.status === "completed" || ending?.status === "partial");
    return hasOutput ? { ...run.toRecord(), output: resultOf(root) } : run.toRecord();
  }

  isFar(wakeAt: number | undefined): boolean {
    return this.#runs.isFar(wakeAt);
  }

  /** Only the state of a parked run says whether it waits for the clock or for people: the run is loaded. */
  async #underWay(runId: string): Promise<LiveRun | undefined> {
    const record = await findRecord(this.#options.journal, runId);
    if (record.completedAt !== undefined || this.#isParking) return this.#runs.byNo(record.no);
    return this.#runs.load(record);
  }

  budgetView(runs: readonly string[]): BudgetView {
    return this.#tasks.budgetView(runs);
  }

  watch(runId: string, listen: (notice: RunNotice) => void): () => void {
    return this.#watchers.add(runId, listen);
  }

  /** `id`: the request of another process, which is answered in the commit of the event that it causes. */
  async request(runId: string, request: RunRequest, id?: number): Promise<RunRecord> {
    // Where its process has died, and no other takes up runs, this one goes on with it.
    if (this.#options.drives?.runs === "own") this.#asked.add((await findRecord(this.#options.journal, runId)).no);
    return this.#requests.perform(runId, request, id);
  }

  async deleteRun(runId: string): Promise<void> {
    this.#refuseWhenParking();
    const record = await findRecord(this.#options.journal, runId);
    const release = this.#reruns.delete(record.id);
    try {
      await deleteRun(this.#options.journal, record);
    } finally {
      release();
    }
  }

  // --- The life of the process ---

  get driving(): number {
    return this.#runs.size;
  }

  /** Goes on with runs that are due and that no process drives. */
  async takeUpDue(): Promise<void> {
    if (!this.#isParking) await this.#wakeUps.takeUpDue();
  }

  async recover(): Promise<{ readonly resumed: number }> {
    await this.#parts.budgets.open();
    await this.#parts.budgets.settleDead();
    const resumed = await this.#wakeUps.takeUpDue();
    await this.#cancelOvertaken();
    await this.#outbox.drain();
    await this.#wakeUps.setAlarm(this.#options.clock.now() + LOOK_AGAIN_MS);
    return { resumed };
  }

  /** Those that others drive are theirs to cancel: they look as often. After a death in between whoever looks next does it. */
  async #cancelOvertaken(): Promise<void> {
    const request = { type: "cancel", by: "concurrency", reason: "A newer run takes its place.", once: true } as const;
    if (this.#isParking || this.#options.drives?.runs === "none") return;
    for (const id of await this.#options.journal.listOvertaken())
      await this.#requests.perform(id, request).catch((error: unknown) => {
        if (!isPawlError(error) || !NOT_OURS.has(error.code)) throw error;
      });
  }

  /** Others have taken over what this process drives: it stops at once, and records nothing of it. */
  lose(): void {
    this.#parts.ledger.lose();
    const gone = new PawlError("OWNER_GONE", { message: "Another process has taken over the runs of this one." });
    for (const no of this.#runs.numbers) {
      const run = this.#runs.byNo(no);
      run?.leave(gone);
      if (run !== undefined) this.#abandon(run, gone);
    }
  }

  async park(force: AbortSignal, hold?: string): Promise<void> {
    const { queue, retries, ledger } = this.#parts;
    const { journal, onDefect } = this.#options;
    if (hold !== undefined) await this.#hold(hold);
    this.#isParking = true;
    this.#wakeUps.stop();
    this.#timers.stopAll();
    // If nothing can be written, runs cannot be parked: the next owner finds them as after a crash.
    queue.giveUpRetries();
    retries.giveUp();
    const parked = this.#tasks.parkAll(force);
    for (const no of this.#runs.numbers) this.#letGo(this.#runs.byNo(no));
    await parked;
    await queue.drained();
    await ledger.close();
    await this.#outbox.close();
    this.#watchers.tellAll({ type: "parked" });
    queue.close();
    await journal.release(this.#runs.numbers).catch((error: unknown) => onDefect(error));
    await this.#releasing;
    this.#settled.resolveAll();
  }

  /** Others may go on with a run that is parked here, whatever other runs still wait for. */
  #letGo(run: LiveRun | undefined): void {
    if (run === undefined || run.state.phase !== "open" || this.#tasks.isBusyWith(run)) return;
    if (run.isDiscarded || run.isBusy || !run.isDurable || this.#options.drives === undefined) return;
    this.#runs.unload(run);
    this.#watchers.tell(run.runId, { type: "parked" });
  }

  /** A run that waits for a person needs no holding: the answer is the wish to go on. */
  async #hold(runId: string): Promise<void> {
    const run = this.#runs.byId(runId) ?? (await this.#underWay(runId).catch(() => undefined));
    if (run?.state.phase !== "open" || run.state.queued !== undefined || waitsForOthers(run.state)) return;
    run.apply({ type: "runHeld", at: this.#options.clock.now() });
  }

  /** Runs that leave memory in one turn are let go of together. */
  #release(no: RunNo): void {
    this.#released.push(no);
    if (this.#released.length > 1) return;
    this.#releasing = Promise.resolve()
      .then(() => {
        const released = this.#released.splice(0);
        const untouched = released.filter((run) => this.#handedOver.delete(run));
        return this.#options.journal.release(released, untouched);
      })
      // They are taken up when this process has ended.
      .catch((error: unknown) => this.#options.onDefect(error));
  }

  /** The run stops in this process. Its record on disk is whole, and the next load goes on from there. */
  #abandon(run: LiveRun, error: unknown): void {
    const isExpected = isPawlError(error) && EXPECTED.has(error.code);
    if (!isExpected) this.#options.onDefect(error);
    if (this.#runs.byNo(run.no) !== run) return;
    this.#runs.giveUp(run);
    run.values.forget();
    // Those who wait for the run get errors that a user can act on; a defect tells them nothing.
    if (!isPawlError(error) || this.#isParking) this.#settled.resolve(run.runId);
    else this.#settled.reject(run.runId, error);
    this.#watchers.tell(run.runId, { type: "parked" });
  }

  #refuseWhenParking(): void {
    if (this.#isParking) throw new PawlError("OWNER_GONE", { message: "This process is parking its runs." });
  }
}
