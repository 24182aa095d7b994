import { isStorageFailure } from "../../core/errors/is-storage-failure.ts";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import { newRunState } from "../../core/history/new-run-state.ts";
import type { Instance } from "../../core/history/run-state.ts";
import { pendingCommands, recoveryEvents } from "../../core/interpreter/recovery.ts";
import { isParked, nextTimerAt, waitsForOthers } from "../../core/interpreter/run-status.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { RunNo, RunRecord } from "../../ports/journal.ts";
import type { ApprovalAnswer, RunHost, RunNotice, RunStart } from "../run-host.ts";
import { filesOfTenant } from "../tenant-files.ts";
import { BudgetLedger } from "./budgets/budget-ledger.ts";
import { LateBudgets } from "./budgets/late-budgets.ts";
import { NearLimits } from "./budgets/near-limits.ts";
import { raiseLimit } from "./budgets/raise-limit.ts";
import { UseTracker } from "./budgets/use-tracker.ts";
import { CommandPerformer } from "./command-performer.ts";
import { CommitQueue } from "./commit-queue.ts";
import { deleteRun } from "./delete-run.ts";
import { findRecord, readRecord } from "./find-record.ts";
import { finishRun, finishRunAtOnce, loadOutputs } from "./finish-run.ts";
import { GraphShelf } from "./graph-shelf.ts";
import type { TextTools } from "./input-projection.ts";
import { InputSecrets } from "./input-secrets.ts";
import { acquitBystanders } from "./last-chance.ts";
import type { LocalHostOptions } from "./local-host-options.ts";
import { toNewRun, toRunStarted } from "./new-run.ts";
import { newRunId } from "./new-run-id.ts";
import { type Asked, openApproval, refuseAnswered, refuseForbiddenEdit } from "./open-approval.ts";
import { Outbox } from "./outbox.ts";
import { ParsedTexts } from "./parsed-texts.ts";
import { PatientBlobs } from "./patient-blobs.ts";
import { OutputPolicies } from "./policies/output-policies.ts";
import { rebuildRun } from "./rebuild-run.ts";
import { loadReusable, type ReusableOutcomes } from "./reuse.ts";
import { type DriverHooks, type DriverRun, RunDriver } from "./run-driver.ts";
import { RunTimers } from "./run-timers.ts";
import { RunValues, type ValueSources } from "./run-values.ts";
import { RunWatchers } from "./run-watchers.ts";
import { RunsTakenOver } from "./runs-taken-over.ts";
import { hideLeaves } from "./secret-leaves.ts";
import { isSettled, Settling } from "./settling.ts";
import { storeAnswer } from "./store-answer.ts";
import { TaskRunner } from "./task-runner.ts";
import { tellApproval } from "./tell-approval.ts";
import { toStoredValue, type ValueWriter } from "./to-value.ts";
import { ValueCache } from "./value-cache.ts";

const MEBIBYTE = 1024 * 1024;
const RECOVERY_SLICE = 50;
const STALL_RETRY_MS = 5_000;
/** A run that is due and yet parked on disk is under way here, and its commit waits: no need to look at once again. */
const LOOK_AGAIN_MS = 100;
/** A parked run whose timer is nearer than this stays in memory. */
const KEEP_LOADED_MS = 10_000;
const MAX_UNREAD_SIGNALS = 1_000;

/** Drives runs in this process. */
export class LocalHost implements RunHost {
  readonly #options: LocalHostOptions;
  readonly #drivers = new Map<RunNo, RunDriver>();
  readonly #byId = new Map<string, RunDriver>();
  readonly #loading = new Map<RunNo, Promise<RunDriver>>();
  readonly #shelf = new GraphShelf();
  readonly #watchers: RunWatchers;
  readonly #settling = new Settling();
  readonly #queue: CommitQueue;
  readonly #tasks: TaskRunner;
  readonly #performer: CommandPerformer;
  readonly #timers: RunTimers;
  readonly #outbox: Outbox;
  readonly #writer: ValueWriter;
  readonly #tools: Required<TextTools>;
  readonly #sources: ValueSources;
  readonly #hooks: DriverHooks;
  readonly #reusable = new WeakMap<RunDriver, ReusableOutcomes>();
  /** Runs that cannot be read: reported once, never in the way of others. */
  readonly #unreadable = new Set<RunNo>();
  readonly #patientBlobs: PatientBlobs;
  readonly #secrets: InputSecrets;
  readonly #takenOver = new RunsTakenOver();
  readonly #ledger: BudgetLedger;
  readonly #tellNear: NearLimits;
  readonly #lateBudgets: LateBudgets;
  #stopWaking: (() => void) | undefined;
  #stopRetry: (() => void) | undefined;
  #lookingForWake: Promise<void> | undefined;
  #isParking = false;

  constructor(options: LocalHostOptions) {
    this.#options = options;
    this.#watchers = new RunWatchers(options.onDefect);
    const { journal, clock, blobs, files } = options;
    this.#secrets = new InputSecrets(options.secrets, journal);
    const texts = new ParsedTexts();
    this.#tools = {
      matches: (text, pattern) => options.matches?.(text, pattern) ?? false,
      parse: (text) => texts.parse(text),
    };
    const stalled = (error: PawlError | undefined) => this.#watchers.tellAll(stallNotice(error));
    this.#patientBlobs = new PatientBlobs({ blobs, clock, retryMs: STALL_RETRY_MS, stalled });
    this.#sources = {
      journal,
      blobs: this.#patientBlobs,
      files,
      cache: new ValueCache(options.cacheBytes ?? 32 * MEBIBYTE),
      env: (name) => options.env(name),
      ...this.#tools,
    };
    this.#writer = {
      blobs: this.#patientBlobs,
      maxBytes: options.maxOutputBytes ?? 16 * MEBIBYTE,
      mask: (text) => options.mask(text),
    };
    this.#queue = new CommitQueue({
      journal,
      clock,
      maxRowsPerCommit: options.maxRowsPerCommit ?? 500,
      retryMs: STALL_RETRY_MS,
      stalled,
      broken: (error) => options.onDefect(error),
    });
    const asked = (driver: RunDriver, instance: Instance, seq: number) =>
      tellApproval(driver, instance, { asked: seq, env: options.env });
    this.#tellNear = new NearLimits(clock, options.env);
    this.#ledger = new BudgetLedger(clock, (driver, near) => this.#tellNear.tellShared(driver, near), options.onDefect);
    const { openBudgets } = options;
    this.#lateBudgets = new LateBudgets({
      ledger: this.#ledger,
      journal,
      shelf: this.#shelf,
      ...(openBudgets === undefined ? {} : { openBudgets: () => openBudgets() }),
    });
    this.#tasks = new TaskRunner({
      ledger: this.#ledger,
      policies: new OutputPolicies({ findAll: options.findAll ?? (() => undefined), env: options.env }),
      asked,
      clock,
      files,
      writer: this.#writer,
      maskPieces: () => options.maskPieces?.() ?? { push: options.mask, end: () => "" },
      findExecutor: options.findExecutor,
      reusable: (driver) => this.#reusable.get(driver),
      broken: (driver, error) => this.#abandon(driver, error),
    });
    this.#timers = new RunTimers(clock, (driver, timer) => {
      if (!this.#isParking) driver.apply({ type: "timerFired", at: clock.now(), timer });
    });
    this.#outbox = new Outbox({
      journal,
      files,
      clock,
      retryMs: STALL_RETRY_MS,
      outputsOf: (run) => this.#outputsOf(run),
      failed: options.onDefect,
    });
    const ending = { clock, files, env: options.env };
    this.#performer = new CommandPerformer({
      asked,
      clock,
      writer: this.#writer,
      tasks: this.#tasks,
      tools: this.#tools,
      resolveCall: options.resolveCall,
      keepSecrets: (driver, leaves) => this.#secrets.keep(driver.no, leaves),
      reusable: (driver) => this.#reusable.get(driver),
      startTimer: (driver, timer, at) => this.#timers.start(driver, timer, at),
      stopTimer: (driver, timer) => this.#timers.stop(driver, timer),
      finishRun: (driver, command) => finishRun(driver, command, ending),
      broken: (driver, error) => this.#abandon(driver, error),
    });
    this.#hooks = {
      queue: this.#queue,
      applied: (driver, event) => {
        this.#ledger.applied(driver, event);
        this.#tellNear.applied(driver);
      },
      finishAtOnce: (driver, command) => finishRunAtOnce(driver, command, ending),
      perform: (driver, command) => {
        if (!this.#isParking || command.type === "finishRun") this.#performer.perform(driver, command);
        else if (command.type === "startTask") this.#tasks.giveBack(driver, command);
      },
      notify: (driver, notice) => this.#watchers.tell(driver.runId, notice),
      hasWatchers: (runId) => this.#watchers.has(runId),
      observer: options.observer,
      isTracing: options.isTracing ?? false,
      afterCommit: (driver) => this.#afterCommit(driver),
      discarded: (driver, result) => this.#abandon(driver, new Error(result.message)),
      broken: (driver, error) => this.#abandon(driver, error),
    };
  }

  get driving(): number {
    return this.#drivers.size;
  }

  async recover(): Promise<{ readonly resumed: number }> {
    const { journal, clock } = this.#options;
    await this.#lateBudgets.look();
    let resumed = 0;
    let afterRun = 0;
    for (;;) {
      const slice = await journal.listDue({ now: clock.now(), afterRun, limit: RECOVERY_SLICE });
      for (const record of slice) {
        if (await this.#takeUp(record)) resumed += 1;
        afterRun = Math.max(afterRun, record.no);
      }
      if (slice.length < RECOVERY_SLICE) break;
    }
    await this.#outbox.drain();
    await this.#wakeLater(clock.now() + LOOK_AGAIN_MS);
    return { resumed };
  }

  /** One run that cannot be read keeps no other from going on. */
  async #takeUp(record: RunRecord): Promise<boolean> {
    if (this.#unreadable.has(record.no)) return false;
    try {
      await this.#load(record);
      return true;
    } catch (error) {
      if (!isStorageFailure(error)) this.#unreadable.add(record.no);
      this.#recoverLater(error);
      return false;
    }
  }

  /** What keeps the storage from being read may be over soon, and nobody might ask for these runs again. */
  #recoverLater(error: unknown): void {
    const { clock, onDefect } = this.#options;
    onDefect(error);
    if (!isStorageFailure(error) || this.#isParking) return;
    this.#stopRetry ??= clock.wakeAt(clock.now() + STALL_RETRY_MS, () => {
      this.#stopRetry = undefined;
      this.recover().catch((again: unknown) => this.#recoverLater(again));
    });
  }

  async startRun(start: RunStart): Promise<RunRecord> {
    this.#refuseWhenParking();
    if (start.runId !== undefined && start.hasNewId !== true) await this.#refuseTaken(start.runId);
    const letGo = start.lineage === undefined ? undefined : this.#takenOver.begin(start.lineage.run);
    try {
      const driver = await this.#begin(start);
      await driver.durable();
      return driver.toRecord();
    } finally {
      letGo?.();
    }
  }

  async resumeRun(runId: string): Promise<RunRecord> {
    const record = await findRecord(this.#options.journal, runId);
    if (record.completedAt === undefined) {
      this.#refuseWhenParking();
      const driver = await this.#load(record);
      if (driver.state.isHeld) driver.apply({ type: "runResumed", at: this.#options.clock.now() });
      this.#restIfParked(driver);
    }
    return readRecord(this.#options.journal, record.no);
  }

  async cancelRun(runId: string, options: { readonly by?: string; readonly reason?: string }): Promise<RunRecord> {
    return this.#withDriver(runId, async (driver) => {
      driver.apply({ type: "cancelRequested", at: this.#options.clock.now(), ...options });
      await driver.durable();
      return driver.toRecord();
    });
  }

  async answerApproval(runId: string, path: string, answer: ApprovalAnswer): Promise<void> {
    try {
      await this.#answer(runId, path, answer);
    } catch (error) {
      // Who answers after the run has ended because of the first answer is told the same as a moment before.
      if (isPawlError(error) && error.code === "RUN_FINISHED") {
        await this.#refuseAnswered(runId, { path, asked: answer.asked });
      }
      throw error;
    }
  }

  async #answer(runId: string, path: string, { asked, ...answer }: ApprovalAnswer): Promise<void> {
    // Before the data is stored: it may be large, and who asks in vain should leave no trace.
    if (answer.edited !== undefined)
      await this.#withDriver(runId, async (driver) => refuseForbiddenEdit(openApproval(driver.state, { path, asked })));
    const stored = await storeAnswer(answer, this.#writer);
    await this.#withDriver(runId, async (driver) => {
      const instance = openApproval(driver.state, { path, asked });
      const { question } = instance;
      const at = this.#options.clock.now();
      if (question !== undefined && answer.answer === "approve") {
        raiseLimit(driver, this.#ledger, { instance, key: question.key, at, edited: answer.edited });
      }
      const value = question === undefined ? stored.edited : stored.whole;
      const seq = driver.apply({ type: "approvalAnswered", at, path, ...stored.told }, value?.stored);
      if (value !== undefined) driver.values.keep(seq, value.value, value.bytes);
      await driver.durable();
    });
  }

  async sendSignal(runId: string, name: string, payload: Json): Promise<void> {
    const stored = await toStoredValue(payload, this.#writer);
    if (stored === "too large") throw new PawlError("OUTPUT_TOO_LARGE", { message: "The payload is too large." });
    await this.#withDriver(runId, async (driver) => {
      if ((driver.state.signals.get(name)?.length ?? 0) >= MAX_UNREAD_SIGNALS) {
        throw new PawlError("SIGNALS_FULL", {
          message: `The run holds ${MAX_UNREAD_SIGNALS} unread signals "${name}".`,
        });
      }
      const seq = driver.apply({ type: "signalReceived", at: this.#options.clock.now(), name }, stored.stored);
      driver.values.keep(seq, stored.value, stored.bytes);
      await driver.durable();
    });
  }

  async deleteRun(runId: string): Promise<void> {
    this.#refuseWhenParking();
    const record = await findRecord(this.#options.journal, runId);
    const isDone = this.#takenOver.delete(record.id);
    try {
      await deleteRun(this.#options.journal, record);
    } finally {
      isDone();
    }
  }

  watch(runId: string, listen: (notice: RunNotice) => void): () => void {
    return this.#watchers.add(runId, listen);
  }

  async settled(runId: string): Promise<RunRecord> {
    const driver = this.#byId.get(runId) ?? (await this.#underWay(runId));
    if (driver !== undefined && !isSettled(driver)) {
      await this.#settling.wait(driver.runId);
    } else if (driver !== undefined) this.#restIfParked(driver);
    await this.#outbox.idle();
    return driver?.state.phase === "finished" && driver.isDurable
      ? driver.toRecord()
      : findRecord(this.#options.journal, runId);
  }

  async park(force: AbortSignal, hold?: string): Promise<void> {
    if (hold !== undefined) await this.#hold(hold);
    this.#isParking = true;
    this.#stopWaking?.();
    this.#stopRetry?.();
    this.#timers.stopAll();
    // Where nothing can be written there is nothing to lay down: the next owner finds the run as after a crash.
    this.#queue.giveUpRetries();
    this.#patientBlobs.giveUpRetries();
    await this.#tasks.parkAll(force);
    await this.#queue.drained();
    await this.#outbox.close();
    this.#watchers.tellAll({ type: "parked" });
    this.#queue.close();
    this.#settling.resolveAll();
  }

  /** What waits for a person anyway needs no holding: the answer is the wish to go on. */
  async #hold(runId: string): Promise<void> {
    const driver = this.#byId.get(runId) ?? (await this.#underWay(runId).catch(() => undefined));
    if (driver === undefined || driver.state.phase !== "open" || waitsForOthers(driver.state)) return;
    driver.apply({ type: "runHeld", at: this.#options.clock.now() });
  }

  async #begin(start: RunStart): Promise<RunDriver> {
    const no = this.#options.journal.reserveRun();
    try {
      return await this.#beginAs(no, start);
    } catch (error) {
      if (!this.#drivers.has(no)) this.#secrets.forget(no);
      throw error;
    }
  }

  async #beginAs(no: RunNo, start: RunStart): Promise<RunDriver> {
    const { journal, clock } = this.#options;
    await this.#lateBudgets.look();
    const { pinned, graph } = this.#shelf.put(start.definition);
    const found = this.#secrets.find(start);
    const secret = found instanceof Promise ? await found : found;
    const sealed = this.#secrets.keep(no, secret);
    const stored = toStoredValue(hideLeaves(start.input, secret), this.#writer);
    const input = stored instanceof Promise ? await stored : stored;
    if (input === "too large")
      throw new PawlError("INPUT_INVALID", { message: "The input is larger than an output may be." });
    const reusable = start.lineage === undefined ? undefined : await loadReusable(journal, start.lineage);
    const at = clock.now();
    const runId = start.runId ?? newRunId(at);
    const { tenantId } = start;
    const budgets = this.#ledger.bind({ runId, workflow: graph.graph.name, tenantId });
    const driver = this.#adopt({
      no,
      about: toNewRun(start, { runId, at, pinned }),
      isNew: true,
      state: newRunState(graph),
      options: start.options ?? {},
      shown: { status: "queued", parked: false, costMicro: 0, openApprovals: 0 },
    });
    if (reusable !== undefined) this.#reusable.set(driver, reusable);
    driver.addPins(pinned.pins);
    const started = toRunStarted(start, {
      runId,
      at,
      storedInput: input.value as JsonObject,
      sealed,
      tools: this.#tools,
    });
    const seq = driver.apply(started, input.stored);
    this.#ledger.enroll(driver, { budgets, tracker: new UseTracker(), isNew: true });
    driver.values.keep(seq, input.value, input.bytes);
    if (secret.length > 0) driver.values.reveal(seq, secret);
    return driver;
  }

  /** A tenant's runs read the tenant's files. */
  #sourcesFor({ tenantId }: { readonly tenantId?: string }): ValueSources {
    if (tenantId === undefined) return this.#sources;
    return { ...this.#sources, files: filesOfTenant(this.#sources.files, tenantId) };
  }

  #adopt(run: Omit<DriverRun, "values">): RunDriver {
    const values = new RunValues(run.no, this.#sourcesFor(run.about), run.state.graph.graph.envAllowed);
    const driver = new RunDriver({ ...run, values }, this.#hooks);
    this.#drivers.set(driver.no, driver);
    this.#byId.set(driver.runId, driver);
    return driver;
  }

  /** A run that is already in memory is left alone: two drivers would be two writers. */
  async #load(record: RunRecord): Promise<RunDriver> {
    const known = this.#drivers.get(record.no);
    if (known !== undefined) return known;
    const loading = this.#loading.get(record.no) ?? this.#rebuild(record);
    this.#loading.set(record.no, loading);
    try {
      return await loading;
    } finally {
      this.#loading.delete(record.no);
    }
  }

  async #rebuild(record: RunRecord): Promise<RunDriver> {
    const { journal, clock } = this.#options;
    const tracker = new UseTracker();
    const { state, options, lineage, sealed } = await rebuildRun(journal, record, this.#shelf.byHash, (at, event) =>
      tracker.observe(at, event),
    );
    const reusable = lineage === undefined ? undefined : await loadReusable(journal, lineage);
    const events = await acquitBystanders(journal, record.no, { state, events: recoveryEvents(state, clock.now()) });
    // Read again: the row may have changed while this run was still in memory.
    const shown = await readRecord(this.#options.journal, record.no);
    const driver = this.#adopt({ no: record.no, about: record, isNew: false, state, options, shown });
    try {
      this.#ledger.enroll(driver, { budgets: this.#ledger.boundTo(record.id), tracker, isNew: false });
      this.#tellNear.enroll(driver);
      if (reusable !== undefined) this.#reusable.set(driver, reusable);
      for (const { seq, text } of sealed) driver.values.reveal(seq, this.#secrets.open(driver.no, text));
      const pending = pendingCommands(state);
      for (const event of events) driver.apply(event);
      // What was wished before the crash is already durable.
      driver.performNow(pending);
      return driver;
    } catch (error) {
      this.#unload(driver);
      throw error;
    }
  }

  /**
   * Acts on a run that goes on, loaded where it was parked. `act` begins in the same turn as the look at the driver: a
   * parked run can leave memory in any other, and what is applied to it then is lost.
   */
  async #withDriver<T>(runId: string, act: (driver: RunDriver) => Promise<T>): Promise<T> {
    for (;;) {
      this.#refuseWhenParking();
      const record = await findRecord(this.#options.journal, runId);
      if (record.completedAt !== undefined) {
        throw new PawlError("RUN_FINISHED", { message: `The run ${record.id} has ended: ${record.status}.` });
      }
      const driver = await this.#load(record);
      if (driver.state.phase === "finished") await driver.durable();
      else if (!driver.isDiscarded) {
        try {
          return await act(driver);
        } finally {
          this.#restIfParked(driver);
        }
      }
    }
  }

  async #refuseAnswered(runId: string, asked: Asked): Promise<void> {
    const record = await findRecord(this.#options.journal, runId);
    const { state } = await rebuildRun(this.#options.journal, record, this.#shelf.byHash);
    refuseAnswered(state, asked);
  }

  /** Whether a run that sleeps waits for the clock or for people only its state tells: it is loaded. */
  async #underWay(runId: string): Promise<RunDriver | undefined> {
    const record = await findRecord(this.#options.journal, runId);
    if (record.completedAt !== undefined || this.#isParking) return this.#drivers.get(record.no);
    return this.#load(record);
  }

  #refuseWhenParking(): void {
    if (this.#isParking) throw new PawlError("OWNER_GONE", { message: "This process is laying its runs down." });
  }

  async #refuseTaken(runId: string): Promise<void> {
    const known = await this.#options.journal.findRun(runId);
    const isTaken = this.#byId.has(runId) || (known !== undefined && known !== "ambiguous" && known.id === runId);
    if (isTaken) throw new PawlError("RUN_ID_TAKEN", { message: `There is already a run "${runId}".` });
  }

  /** A run that has ended, or only waits, leaves memory. */
  #afterCommit(driver: RunDriver): void {
    const { state } = driver;
    if (!this.#settling.isEmpty && isSettled(driver)) this.#settling.resolve(driver.runId);
    if (state.phase === "finished") {
      // What the commit wished may have ended it: then its end is in the next one.
      if (!driver.isDurable) return;
      this.#ledger.end(driver);
      this.#tasks.endRun(driver);
      this.#unload(driver);
      if (state.graph.graph.ending.storagePath !== undefined) this.#outbox.schedule();
      return;
    }
    this.#ledger.note(driver);
    this.#restIfParked(driver);
  }

  /** Of a run that waits long only its rows remain. */
  #restIfParked(driver: RunDriver): void {
    const { state } = driver;
    if (driver.isDiscarded || driver.isBusy || !isParked(state)) return;
    const wakeAt = nextTimerAt(state);
    if (wakeAt !== undefined && wakeAt - this.#options.clock.now() < KEEP_LOADED_MS) return;
    this.#unload(driver);
    this.#wakeLater().catch((error: unknown) => this.#recoverLater(error));
  }

  #unload(driver: RunDriver): void {
    driver.leave();
    if (this.#drivers.get(driver.no) === driver) this.#drivers.delete(driver.no);
    if (this.#byId.get(driver.runId) === driver) this.#byId.delete(driver.runId);
    this.#timers.forget(driver);
    this.#tasks.forget(driver);
    this.#ledger.leave(driver);
    this.#secrets.forget(driver.no);
  }

  /** The run stops in this process; its record on disk is whole, and the next load goes on from there. */
  #abandon(driver: RunDriver, error: unknown): void {
    this.#options.onDefect(error);
    if (this.#drivers.get(driver.no) !== driver) return;
    this.#unload(driver);
    driver.values.forget();
    // Who waits for the run learns what a user can do about it; a defect says nothing to them.
    if (!isPawlError(error) || this.#isParking) this.#settling.resolve(driver.runId);
    else this.#settling.reject(driver.runId, error);
    this.#watchers.tell(driver.runId, { type: "parked" });
  }

  /** Sets the alarm for the next parked run; for one that is due already, at `notBefore`. */
  #wakeLater(notBefore = 0): Promise<void> {
    // Runs that were laid down by one commit share the look.
    this.#lookingForWake ??= Promise.resolve().then(() => {
      this.#lookingForWake = undefined;
      return this.#setAlarm(notBefore);
    });
    return this.#lookingForWake;
  }

  async #setAlarm(notBefore: number): Promise<void> {
    const { journal, clock } = this.#options;
    const wakeAt = await journal.nextWakeAt();
    this.#stopWaking?.();
    this.#stopWaking = undefined;
    if (wakeAt === undefined || this.#isParking) return;
    this.#stopWaking = clock.wakeAt(wakeAt <= clock.now() ? notBefore : wakeAt, () => {
      this.#stopWaking = undefined;
      this.recover().catch((error: unknown) => this.#recoverLater(error));
    });
  }

  async #outputsOf(run: RunNo): Promise<{ readonly record: RunRecord; readonly outputs: Json }> {
    const record = await readRecord(this.#options.journal, run);
    const { state } = await rebuildRun(this.#options.journal, record, this.#shelf.byHash);
    const values = new RunValues(run, this.#sourcesFor(record), state.graph.graph.envAllowed);
    return { record, outputs: await loadOutputs({ state, values }) };
  }
}

function stallNotice(error: PawlError | undefined): RunNotice {
  return error === undefined ? { type: "unstalled" } : { type: "stalled", code: error.code, message: error.message };
}
