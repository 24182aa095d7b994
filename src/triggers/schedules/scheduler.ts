import { setImmediate as nextTurn } from "node:timers/promises";
import { isStorageFailure } from "../../core/errors/is-storage-failure.ts";
import { isPawlError } from "../../core/errors/pawl-error.ts";
import type { RegisteredDefinition } from "../../operations/definitions/registry.ts";
import { decideClaim } from "../../operations/schedules/decide-claim.ts";
import { syncDefinitions } from "../../operations/schedules/defined-schedules.ts";
import { openFireTimes, toNext } from "../../operations/schedules/fire-times.ts";
import { syncSaved } from "../../operations/schedules/saved-schedules.ts";
import { type SchedulerParts, SlotStarter } from "./slot-starter.ts";

const RETRY_MS = 5_000;
/** Clocks are corrected by moments all the time. */
const JUMP_MS = 10_000;

/**
 * Fires schedules while the process serves. A slot that is due is claimed first, durably, and its run is started then, under
 * an id that the slot alone decides: a process that dies in between leaves a claim, which the next one keeps, and nobody
 * starts a run twice. Several processes may fire the same schedules: one of them gets the claim, all may start the run.
 */
export class Scheduler {
  readonly #parts: SchedulerParts;
  readonly #starter: SlotStarter;
  #definitions: readonly RegisteredDefinition[] | undefined;
  #looking: Promise<void> | undefined;
  #isWanted = false;
  #isStopped = false;
  #hasStarted = false;
  #nextLookAt: number | undefined;
  #lastNow = Number.NEGATIVE_INFINITY;
  #stopAlarm: (() => void) | undefined;
  #stopWatching: (() => void) | undefined;

  constructor(parts: SchedulerParts) {
    this.#parts = parts;
    this.#starter = new SlotStarter({ ...parts, wake: () => void this.look() });
  }

  /** From now on the schedules of these definitions count. */
  async start(definitions: readonly RegisteredDefinition[]): Promise<void> {
    const { schedules } = await this.#parts.app.service();
    this.#stopWatching = schedules.watch(() => void this.look());
    await this.update(definitions);
  }

  async update(definitions: readonly RegisteredDefinition[]): Promise<void> {
    this.#definitions = definitions;
    await this.look();
  }

  /** Looks where time has jumped, or another process has changed something: to be called about once a second. */
  async tick(): Promise<void> {
    if (this.#isStopped) return;
    const { app } = this.#parts;
    const now = app.clock.now();
    const isOver = this.#nextLookAt !== undefined && now >= this.#nextLookAt;
    const hasChanged = await (await app.service()).schedules.hasChangedElsewhere();
    if (isOver || hasChanged || now < this.#lastNow - JUMP_MS) await this.look();
    else this.#lastNow = now;
  }

  /** Claims what is due and starts what is claimed. Resolves when everything that was to be done by now has been. */
  look(): Promise<void> {
    this.#isWanted = true;
    this.#looking ??= this.#lookAll().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopAlarm?.();
    this.#stopWatching?.();
    this.#starter.stop();
    await this.#looking;
  }

  async #lookAll(): Promise<void> {
    // Never at once: the caller goes on first.
    await Promise.resolve();
    while (this.#isWanted && !this.#isStopped) {
      this.#isWanted = false;
      try {
        await this.#lookOnce();
      } catch (error) {
        this.#parts.onDefect(error);
        this.#arm(this.#parts.app.clock.now() + RETRY_MS);
      }
    }
  }

  async #lookOnce(): Promise<void> {
    const { app, failed } = this.#parts;
    const { schedules } = await app.service();
    const now = app.clock.now();
    await this.#readDefinitions(now);
    if (!this.#hasStarted) await syncSaved(app);
    if (!this.#hasStarted || now < this.#lastNow - JUMP_MS) await this.#planAnew(now);
    this.#hasStarted = true;
    this.#lastNow = now;
    for (const schedule of await schedules.listDue(now)) {
      // Times are computed: a thousand schedules may be due, and requests wait.
      await nextTurn();
      try {
        const claim = await decideClaim(schedule, now);
        if (claim !== undefined) await schedules.claim(schedule.id, claim);
      } catch (error) {
        // A failure of one schedule must not stop the others.
        if (!isPawlError(error) || isStorageFailure(error)) throw error;
        failed(schedule.workflow, error);
      }
    }
    const hasAll = await this.#starter.startPending();
    const dueAt = await schedules.nextDueAt();
    this.#arm(hasAll ? dueAt : Math.min(dueAt ?? Number.POSITIVE_INFINITY, now + RETRY_MS));
  }

  async #readDefinitions(now: number): Promise<void> {
    const definitions = this.#definitions;
    if (definitions === undefined) return;
    await syncDefinitions((await this.#parts.app.service()).schedules, definitions, now);
    if (this.#definitions === definitions) this.#definitions = undefined;
  }

  /** The clock was ahead: what was planned then is too far away. A slot that has a record is not fired again. */
  async #planAnew(now: number): Promise<void> {
    const { schedules } = await this.#parts.app.service();
    for (const { id, cron, timezone, jitterSeconds, nextFireAt, enabled, version } of await schedules.list({})) {
      if (!enabled || nextFireAt === undefined) continue;
      await nextTurn();
      const next = toNext(await openFireTimes({ cron, timezone }), { id, jitterSeconds, afterMs: now });
      if (next.nextFireAt === undefined || next.dueAt === undefined || nextFireAt <= next.nextFireAt) continue;
      const claim = { version, fromFireAt: nextFireAt, nextFireAt: next.nextFireAt, dueAt: next.dueAt, slots: [] };
      await schedules.claim(id, claim);
    }
  }

  #arm(atMs: number | undefined): void {
    this.#stopAlarm?.();
    this.#nextLookAt = atMs;
    if (this.#isStopped || atMs === undefined || atMs === Number.POSITIVE_INFINITY) return;
    this.#stopAlarm = this.#parts.app.clock.wakeAt(atMs, () => this.look());
  }
}
