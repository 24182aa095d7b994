import { isStorageFailure } from "../../core/errors/is-storage-failure.ts";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import { newRunState } from "../../core/history/new-run-state.ts";
import type { Instance } from "../../core/history/run-state.ts";
import { pendingCommands, recoveryEvents } from "../../core/interpreter/recovery.ts";
import { isParked, nextTimerAt, waitsForOthers } from "../../core/interpreter/run-status.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { RunNo, RunRecord } from "../../ports/journal.ts";
import type { ApprovalAnswer, RunHost, RunNotice, RunStart } from "../run-host.ts";
import { queueApprovalWebhooks } from "../session/approvals/approval-webhooks.ts";
import { type Asked, openApproval, refuseAnswered, refuseForbiddenEdit } from "../session/approvals/open-approval.ts";
import { storeAnswer } from "../session/approvals/store-answer.ts";
import { BudgetLedger } from "../session/budgets/budget-ledger.ts";
import { LazyBudgets } from "../session/budgets/lazy-budgets.ts";
import { LimitWarnings } from "../session/budgets/limit-warnings.ts";
import { raiseLimit } from "../session/budgets/raise-limit.ts";
import { UseTracker } from "../session/budgets/use-tracker.ts";
import { CommandPerformer } from "../session/command-performer.ts";
import { CommitQueue } from "../session/commit-queue.ts";
import { finishRun, finishRunAtOnce, loadOutputs } from "../session/finish-run.ts";
import { GraphCache } from "../session/graph-cache.ts";
import { LiveRun, type LiveRunHooks, type LiveRunParts } from "../session/live-run.ts";
import { toNewRun, toRunStarted } from "../session/new-run.ts";
import { newRunId } from "../session/new-run-id.ts";
import { OutputPolicies } from "../session/policies/output-policies.ts";
import { rebuildRun } from "../session/rebuild-run.ts";
import { loadReusable, type ReusableOutcomes } from "../session/reuse/reuse.ts";
import { InputSecrets } from "../session/secrets/input-secrets.ts";
import { hideLeaves } from "../session/secrets/secret-leaves.ts";
import { TaskRunner } from "../session/task-runner.ts";
import { clearInnocentAttempts } from "../session/tasks/suspects.ts";
import type { TextTools } from "../session/values/input-projection.ts";
import { ParsedJsonCache } from "../session/values/parsed-json-cache.ts";
import { RetryingBlobs } from "../session/values/retrying-blobs.ts";
import { RunValues, type ValueSources } from "../session/values/run-values.ts";
import { toStoredValue, type ValueWriter } from "../session/values/stored-value.ts";
import { ValueCache } from "../session/values/value-cache.ts";
import { filesOfTenant } from "../tenant-files.ts";
import { deleteRun } from "./delete-run.ts";
import { findRecord, readRecord } from "./find-record.ts";
import type { LocalHostOptions } from "./local-host-options.ts";
import { Outbox } from "./outbox.ts";
import { RerunGuard } from "./rerun-guard.ts";
import { RunTimers } from "./run-timers.ts";
import { RunWatchers } from "./run-watchers.ts";
import { isSettled, SettledRuns } from "./settled-runs.ts";

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
  readonly #drivers = new Map<RunNo, LiveRun>();
  readonly #byId = new Map<string, LiveRun>();
  readonly #loading = new Map<RunNo, Promise<LiveRun>>();
  readonly #graphCache = new GraphCache();
  readonly #watchers: RunWatchers;
  readonly #settledRuns = new SettledRuns();
  readonly #queue: CommitQueue;
  readonly #tasks: TaskRunner;
  readonly #performer: CommandPerformer;
  readonly #timers: RunTimers;
  readonly #outbox: Outbox;
  readonly #writer: ValueWriter;
  readonly #tools: Required<TextTools>;
  readonly #sources: ValueSources;
  readonly #hooks: LiveRunHooks;
  readonly #reusable = new WeakMap<LiveRun, ReusableOutcomes>();
  /** Runs that cannot be read: reported once, never in the way of others. */
  readonly #unreadable = new Set<RunNo>();
  readonly #retryingBlobs: RetryingBlobs;
  readonly #secrets: InputSecrets;
  readonly #rerunGuard = new RerunGuard();
  readonly #ledger: BudgetLedger;
  readonly #limitWarnings: LimitWarnings;
  readonly #lazyBudgets: LazyBudgets;
  #stopWaking: (() => void) | undefined;
  #stopRetry: (() => void) | undefined;
  #lookingForWake: Promise<void> | undefined;
  #isParking = false;

  constructor(options: LocalHostOptions) {
    this.#options = options;
    this.#watchers = new RunWatchers(options.onDefect);
    const { journal, clock, blobs, files } = options;
    this.#secrets = new InputSecrets(options.secrets, journal);
    const texts = new ParsedJsonCache();
    this.#tools = {
      matches: (text, pattern) => options.matches?.(text, pattern) ?? false,
      parse: (text) => texts.parse(text),
    };
    const stalled = (error: PawlError | undefined) => this.#watchers.tellAll(stallNotice(error));
    this.#retryingBlobs = new RetryingBlobs({ blobs, clock, retryMs: STALL_RETRY_MS, stalled });
    this.#sources = {
      journal,
      blobs: this.#retryingBlobs,
      files,
      cache: new ValueCache(options.cacheBytes ?? 32 * MEBIBYTE),
      env: (name) => options.env(name),
      ...this.#tools,
    };
    this.#writer = {
      blobs: this.#retryingBlobs,
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
    const asked = (run: LiveRun, instance: Instance, seq: number) =>
      queueApprovalWebhooks(run, instance, { asked: seq, env: options.env });
    this.#limitWarnings = new LimitWarnings(clock, options.env);
    this.#ledger = new BudgetLedger(clock, (run, near) => this.#limitWarnings.tellShared(run, near), options.onDefect);
    const { openBudgets } = options;
    this.#lazyBudgets = new LazyBudgets({
      ledger: this.#ledger,
      journal,
      graphCache: this.#graphCache,
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
      reusable: (run) => this.#reusable.get(run),
      broken: (run, error) => this.#abandon(run, error),
    });
    this.#timers = new RunTimers(clock, (run, timer) => {
      if (!this.#isParking) run.apply({ type: "timerFired", at: clock.now(), timer });
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
      keepSecrets: (run, leaves) => this.#secrets.keep(run.no, leaves),
      reusable: (run) => this.#reusable.get(run),
      startTimer: (run, timer, at) => this.#timers.start(run, timer, at),
      stopTimer: (run, timer) => this.#timers.stop(run, timer),
      finishRun: (run, command) => finishRun(run, command, ending),
      broken: (run, error) => this.#abandon(run, error),
    });
    this.#hooks = {
      queue: this.#queue,
      applied: (run, event) => {
        this.#ledger.applied(run, event);
        this.#limitWarnings.applied(run);
      },
      finishAtOnce: (run, command) => finishRunAtOnce(run, command, ending),
      perform: (run, command) => {
        if (!this.#isParking || command.type === "finishRun") this.#performer.perform(run, command);
        else if (command.type === "startTask") this.#tasks.giveBack(run, command);
      },
      notify: (run, notice) => this.#watchers.tell(run.runId, notice),
      hasWatchers: (runId) => this.#watchers.has(runId),
      observer: options.observer,
      isTracing: options.isTracing ?? false,
      afterCommit: (run) => this.#afterCommit(run),
      discarded: (run, result) => this.#abandon(run, new Error(result.message)),
      broken: (run, error) => this.#abandon(run, error),
    };
  }

  get driving(): number {
    return this.#drivers.size;
  }

  async recover(): Promise<{ readonly resumed: number }> {
    const { journal, clock } = this.#options;
    await this.#lazyBudgets.look();
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
    const letGo = start.lineage === undefined ? undefined : this.#rerunGuard.begin(start.lineage.run);
    try {
      const run = await this.#begin(start);
      await run.durable();
      return run.toRecord();
    } finally {
      letGo?.();
    }
  }

  async resumeRun(runId: string): Promise<RunRecord> {
    const record = await findRecord(this.#options.journal, runId);
    if (record.completedAt === undefined) {
      this.#refuseWhenParking();
      const run = await this.#load(record);
      if (run.state.isHeld) run.apply({ type: "runResumed", at: this.#options.clock.now() });
      this.#restIfParked(run);
    }
    return readRecord(this.#options.journal, record.no);
  }

  async cancelRun(runId: string, options: { readonly by?: string; readonly reason?: string }): Promise<RunRecord> {
    return this.#withDriver(runId, async (run) => {
      run.apply({ type: "cancelRequested", at: this.#options.clock.now(), ...options });
      await run.durable();
      return run.toRecord();
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
      await this.#withDriver(runId, async (run) => refuseForbiddenEdit(openApproval(run.state, { path, asked })));
    const stored = await storeAnswer(answer, this.#writer);
    await this.#withDriver(runId, async (run) => {
      const instance = openApproval(run.state, { path, asked });
      const { question } = instance;
      const at = this.#options.clock.now();
      if (question !== undefined && answer.answer === "approve") {
        raiseLimit(run, this.#ledger, { instance, key: question.key, at, edited: answer.edited });
      }
      const value = question === undefined ? stored.edited : stored.whole;
      const seq = run.apply({ type: "approvalAnswered", at, path, ...stored.told }, value?.stored);
      if (value !== undefined) run.values.keep(seq, value.value, value.bytes);
      await run.durable();
    });
  }

  async sendSignal(runId: string, name: string, payload: Json): Promise<void> {
    const stored = await toStoredValue(payload, this.#writer);
    if (stored === "too large") throw new PawlError("OUTPUT_TOO_LARGE", { message: "The payload is too large." });
    await this.#withDriver(runId, async (run) => {
      if ((run.state.signals.get(name)?.length ?? 0) >= MAX_UNREAD_SIGNALS) {
        throw new PawlError("SIGNALS_FULL", {
          message: `The run holds ${MAX_UNREAD_SIGNALS} unread signals "${name}".`,
        });
      }
      const seq = run.apply({ type: "signalReceived", at: this.#options.clock.now(), name }, stored.stored);
      run.values.keep(seq, stored.value, stored.bytes);
      await run.durable();
    });
  }

  async deleteRun(runId: string): Promise<void> {
    this.#refuseWhenParking();
    const record = await findRecord(this.#options.journal, runId);
    const isDone = this.#rerunGuard.delete(record.id);
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
    const run = this.#byId.get(runId) ?? (await this.#underWay(runId));
    if (run !== undefined && !isSettled(run)) {
      await this.#settledRuns.wait(run.runId);
    } else if (run !== undefined) this.#restIfParked(run);
    await this.#outbox.idle();
    return run?.state.phase === "finished" && run.isDurable ? run.toRecord() : findRecord(this.#options.journal, runId);
  }

  async park(force: AbortSignal, hold?: string): Promise<void> {
    if (hold !== undefined) await this.#hold(hold);
    this.#isParking = true;
    this.#stopWaking?.();
    this.#stopRetry?.();
    this.#timers.stopAll();
    // Where nothing can be written there is nothing to lay down: the next owner finds the run as after a crash.
    this.#queue.giveUpRetries();
    this.#retryingBlobs.giveUpRetries();
    await this.#tasks.parkAll(force);
    await this.#queue.drained();
    await this.#outbox.close();
    this.#watchers.tellAll({ type: "parked" });
    this.#queue.close();
    this.#settledRuns.resolveAll();
  }

  /** What waits for a person anyway needs no holding: the answer is the wish to go on. */
  async #hold(runId: string): Promise<void> {
    const run = this.#byId.get(runId) ?? (await this.#underWay(runId).catch(() => undefined));
    if (run === undefined || run.state.phase !== "open" || waitsForOthers(run.state)) return;
    run.apply({ type: "runHeld", at: this.#options.clock.now() });
  }

  async #begin(start: RunStart): Promise<LiveRun> {
    const no = this.#options.journal.reserveRun();
    try {
      return await this.#beginAs(no, start);
    } catch (error) {
      if (!this.#drivers.has(no)) this.#secrets.forget(no);
      throw error;
    }
  }

  async #beginAs(no: RunNo, start: RunStart): Promise<LiveRun> {
    const { journal, clock } = this.#options;
    await this.#lazyBudgets.look();
    const { pinned, graph } = this.#graphCache.put(start.definition);
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
    const run = this.#adopt({
      no,
      about: toNewRun(start, { runId, at, pinned }),
      isNew: true,
      state: newRunState(graph),
      options: start.options ?? {},
      shown: { status: "queued", parked: false, costMicro: 0, openApprovals: 0 },
    });
    if (reusable !== undefined) this.#reusable.set(run, reusable);
    run.addPins(pinned.pins);
    const started = toRunStarted(start, {
      runId,
      at,
      storedInput: input.value as JsonObject,
      sealed,
      tools: this.#tools,
    });
    const seq = run.apply(started, input.stored);
    this.#ledger.enroll(run, { budgets, tracker: new UseTracker(), isNew: true });
    run.values.keep(seq, input.value, input.bytes);
    if (secret.length > 0) run.values.reveal(seq, secret);
    return run;
  }

  /** A tenant's runs read the tenant's files. */
  #sourcesFor({ tenantId }: { readonly tenantId?: string }): ValueSources {
    if (tenantId === undefined) return this.#sources;
    return { ...this.#sources, files: filesOfTenant(this.#sources.files, tenantId) };
  }

  #adopt(parts: Omit<LiveRunParts, "values">): LiveRun {
    const values = new RunValues(parts.no, this.#sourcesFor(parts.about), parts.state.graph.graph.envAllowed);
    const run = new LiveRun({ ...parts, values }, this.#hooks);
    this.#drivers.set(run.no, run);
    this.#byId.set(run.runId, run);
    return run;
  }

  /** A run that is already in memory is left alone: two drivers would be two writers. */
  async #load(record: RunRecord): Promise<LiveRun> {
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

  async #rebuild(record: RunRecord): Promise<LiveRun> {
    const { journal, clock } = this.#options;
    const tracker = new UseTracker();
    const { state, options, lineage, sealed } = await rebuildRun(
      journal,
      record,
      this.#graphCache.byHash,
      (at, event) => tracker.observe(at, event),
    );
    const reusable = lineage === undefined ? undefined : await loadReusable(journal, lineage);
    const events = await clearInnocentAttempts(journal, record.no, {
      state,
      events: recoveryEvents(state, clock.now()),
    });
    // Read again: the row may have changed while this run was still in memory.
    const shown = await readRecord(this.#options.journal, record.no);
    const run = this.#adopt({ no: record.no, about: record, isNew: false, state, options, shown });
    try {
      this.#ledger.enroll(run, { budgets: this.#ledger.boundTo(record.id), tracker, isNew: false });
      this.#limitWarnings.enroll(run);
      if (reusable !== undefined) this.#reusable.set(run, reusable);
      for (const { seq, text } of sealed) run.values.reveal(seq, this.#secrets.open(run.no, text));
      const pending = pendingCommands(state);
      for (const event of events) run.apply(event);
      // What was wished before the crash is already durable.
      run.performNow(pending);
      return run;
    } catch (error) {
      this.#unload(run);
      throw error;
    }
  }

  /**
   * Acts on a run that goes on, loaded where it was parked. `act` begins in the same turn as the look at the driver: a
   * parked run can leave memory in any other, and what is applied to it then is lost.
   */
  async #withDriver<T>(runId: string, act: (run: LiveRun) => Promise<T>): Promise<T> {
    for (;;) {
      this.#refuseWhenParking();
      const record = await findRecord(this.#options.journal, runId);
      if (record.completedAt !== undefined) {
        throw new PawlError("RUN_FINISHED", { message: `The run ${record.id} has ended: ${record.status}.` });
      }
      const run = await this.#load(record);
      if (run.state.phase === "finished") await run.durable();
      else if (!run.isDiscarded) {
        try {
          return await act(run);
        } finally {
          this.#restIfParked(run);
        }
      }
    }
  }

  async #refuseAnswered(runId: string, asked: Asked): Promise<void> {
    const record = await findRecord(this.#options.journal, runId);
    const { state } = await rebuildRun(this.#options.journal, record, this.#graphCache.byHash);
    refuseAnswered(state, asked);
  }

  /** Whether a run that sleeps waits for the clock or for people only its state tells: it is loaded. */
  async #underWay(runId: string): Promise<LiveRun | undefined> {
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
  #afterCommit(run: LiveRun): void {
    const { state } = run;
    if (!this.#settledRuns.isEmpty && isSettled(run)) this.#settledRuns.resolve(run.runId);
    if (state.phase === "finished") {
      // What the commit wished may have ended it: then its end is in the next one.
      if (!run.isDurable) return;
      this.#ledger.end(run);
      this.#tasks.endRun(run);
      this.#unload(run);
      if (state.graph.graph.ending.storagePath !== undefined) this.#outbox.schedule();
      return;
    }
    this.#ledger.note(run);
    this.#restIfParked(run);
  }

  /** Of a run that waits long only its rows remain. */
  #restIfParked(run: LiveRun): void {
    const { state } = run;
    if (run.isDiscarded || run.isBusy || !isParked(state)) return;
    const wakeAt = nextTimerAt(state);
    if (wakeAt !== undefined && wakeAt - this.#options.clock.now() < KEEP_LOADED_MS) return;
    this.#unload(run);
    this.#wakeLater().catch((error: unknown) => this.#recoverLater(error));
  }

  #unload(run: LiveRun): void {
    run.leave();
    if (this.#drivers.get(run.no) === run) this.#drivers.delete(run.no);
    if (this.#byId.get(run.runId) === run) this.#byId.delete(run.runId);
    this.#timers.forget(run);
    this.#tasks.forget(run);
    this.#ledger.leave(run);
    this.#secrets.forget(run.no);
  }

  /** The run stops in this process; its record on disk is whole, and the next load goes on from there. */
  #abandon(run: LiveRun, error: unknown): void {
    this.#options.onDefect(error);
    if (this.#drivers.get(run.no) !== run) return;
    this.#unload(run);
    run.values.forget();
    // Who waits for the run learns what a user can do about it; a defect says nothing to them.
    if (!isPawlError(error) || this.#isParking) this.#settledRuns.resolve(run.runId);
    else this.#settledRuns.reject(run.runId, error);
    this.#watchers.tell(run.runId, { type: "parked" });
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
    const { state } = await rebuildRun(this.#options.journal, record, this.#graphCache.byHash);
    const values = new RunValues(run, this.#sourcesFor(record), state.graph.graph.envAllowed);
    return { record, outputs: await loadOutputs({ state, values }) };
  }
}

function stallNotice(error: PawlError | undefined): RunNotice {
  return error === undefined ? { type: "unstalled" } : { type: "stalled", code: error.code, message: error.message };
}
