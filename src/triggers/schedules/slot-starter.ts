import { setImmediate as nextTurn } from "node:timers/promises";
import { isPawlError } from "../../core/errors/pawl-error.ts";
import type { AppHost, Driving, StartPorts } from "../../operations/application/ports.ts";
import { isRefusal, prepareScheduled, runIdOf } from "../../operations/schedules/run-schedule.ts";
import type { RequestRunner } from "../../operations/start/request-runner.ts";
import { tellRefused } from "../../operations/webhooks/take-up-notices.ts";
import type { SlotOutcome, SlotRecord, StoredSchedule } from "../../ports/service/schedules.ts";

export interface SchedulerParts {
  readonly app: StartPorts & Driving;
  readonly host: Pick<AppHost, "watch" | "request">;
  readonly runner: Pick<RequestRunner, "start">;
  failed(workflow: string, error: unknown): void;
  onDefect(error: unknown): void;
}

interface StarterParts extends SchedulerParts {
  /** A run has ended that a slot waits for. */
  wake(): void;
}

/** A schedule whose runs take longer than its slots are apart must not fill the disk with promises. */
const MAX_QUEUED = 100;

/** So many starts share a commit, because a thousand schedules may name the same second. */
const MAX_STARTED_AT_ONCE = 32;

/** Starts the runs of slots that have been claimed, and keeps what a schedule says of runs that overlap. */
export class SlotStarter {
  readonly #parts: StarterParts;
  readonly #waitedFor = new Map<string, () => void>();

  constructor(parts: StarterParts) {
    this.#parts = parts;
  }

  stop(): void {
    for (const stopWaiting of this.#waitedFor.values()) stopWaiting();
    this.#waitedFor.clear();
  }

  /** False: something could not be started that can be later. */
  async startPending(): Promise<boolean> {
    const { schedules } = await this.#parts.app.service();
    const behind = Map.groupBy(await schedules.listPending(), ({ scheduleId }) => scheduleId);
    let hasAll = true;
    await sideBySide([...behind], MAX_STARTED_AT_ONCE, async ([id, slots]) => {
      await nextTurn();
      const schedule = await schedules.find(id);
      if (schedule === undefined) return;
      try {
        await this.#startSlots(schedule, slots);
      } catch (error) {
        // Nothing is lost: the claims stay.
        this.#parts.failed(schedule.workflow, error);
        hasAll = false;
      }
    });
    return hasAll;
  }

  async #startSlots(schedule: StoredSchedule, slots: readonly SlotRecord[]): Promise<void> {
    const { schedules } = await this.#parts.app.service();
    for (const [index, slot] of slots.entries()) {
      const outcome = await this.#decide(schedule, slot);
      if (outcome.state !== "queued") {
        await schedules.settle(slot.seq, outcome);
        continue;
      }
      // Those behind it wait as well.
      for (const [place, each] of slots.slice(index).entries()) {
        const waits: SlotOutcome = place < MAX_QUEUED ? outcome : { state: "skipped", reason: "queue_full" };
        if (each.outcome.state !== waits.state) await schedules.settle(each.seq, waits);
      }
      return;
    }
  }

  /** Decides the outcome of a slot, and starts its run if it is to start. */
  async #decide(schedule: StoredSchedule, slot: SlotRecord): Promise<SlotOutcome> {
    const { app } = this.#parts;
    const runId = runIdOf(schedule, slot);
    const known = await (await app.records()).journal.findRun(runId);
    // The process that started it died before it could record it.
    if (known !== undefined) return { state: "started", runId };
    if (!schedule.enabled)
      return {
        state: "skipped",
        reason: schedule.disabledReason === "definition_removed" ? "definition_removed" : "disabled",
      };
    const underWay = await this.#runningOf(schedule);
    // Another process has started it since.
    if (underWay.includes(runId)) return { state: "started", runId };
    const [running, ...others] = underWay;
    if (running !== undefined) {
      switch (schedule.overlap) {
        case "skip":
          return { state: "skipped", reason: "overlap", message: `The run ${running} was under way.` };
        case "queue":
          this.#waitFor(running);
          return { state: "queued" };
        case "cancel_previous":
          for (const each of [running, ...others]) await this.#cancel(each);
          break;
      }
    }
    return this.#start(schedule, slot);
  }

  async #start(schedule: StoredSchedule, slot: SlotRecord): Promise<SlotOutcome> {
    const { app, runner, failed } = this.#parts;
    const runId = runIdOf(schedule, slot);
    try {
      await runner.start(await prepareScheduled(app, schedule, slot));
      return { state: "started", runId };
    } catch (error) {
      if (isPawlError(error) && error.code === "RUN_ID_TAKEN") return { state: "started", runId };
      if (!isRefusal(error)) throw error;
      if (error.code === "PLACES_TAKEN") return { state: "skipped", reason: "overlap", message: error.message };
      failed(schedule.workflow, error);
      await tellRefused(app, schedule, { slot, error });
      return { state: "skipped", reason: "refused", message: `${error.code}: ${error.message}`.slice(0, 1_000) };
    }
  }

  /** Runs of earlier slots that have not ended. */
  async #runningOf({ id }: StoredSchedule): Promise<readonly string[]> {
    const { app } = this.#parts;
    const { schedules } = await app.service();
    const { journal } = await app.records();
    const running: string[] = [];
    const over: number[] = [];
    for (const { seq, outcome } of await schedules.listRunning(id)) {
      if (outcome.state !== "started") continue;
      const record = await journal.findRun(outcome.runId);
      const isUnderWay = record !== undefined && record !== "ambiguous" && record.completedAt === undefined;
      if (isUnderWay) running.push(outcome.runId);
      else over.push(seq);
    }
    if (over.length > 0) await schedules.finish(over);
    return running;
  }

  #waitFor(runId: string): void {
    if (this.#waitedFor.has(runId)) return;
    const { host, wake } = this.#parts;
    const stopWaiting = host.watch(runId, (notice) => {
      if (notice.type !== "event" || notice.event.type !== "runFinished") return;
      stopWaiting();
      this.#waitedFor.delete(runId);
      wake();
    });
    this.#waitedFor.set(runId, stopWaiting);
  }

  async #cancel(runId: string): Promise<void> {
    try {
      await this.#parts.host.request(runId, { type: "cancel", by: "schedule", reason: "The next slot has come." });
    } catch (error) {
      if (!isPawlError(error) || (error.code !== "RUN_FINISHED" && error.code !== "RUN_NOT_FOUND")) throw error;
    }
  }
}

/** Works on all items, at most `width` at a time. Rejects with the first failure when all have ended. */
async function sideBySide<Item>(
  items: readonly Item[],
  width: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = items.values();
  const workThrough = async () => {
    for (const item of left) await work(item);
  };
  const workers = Array.from({ length: Math.min(width, items.length) }, workThrough);
  const broken = (await Promise.allSettled(workers)).find((settled) => settled.status === "rejected");
  if (broken !== undefined) throw broken.reason;
}
