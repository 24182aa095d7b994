import { randomUUID } from "node:crypto";
import type { Delivery } from "../../ports/service/deliveries.ts";
import { showReceiver } from "../show-receiver.ts";
import { takeUpNotices } from "./take-up-notices.ts";
import { takeUpWebhooks } from "./take-up-webhooks.ts";
import { type TryParts, tryDelivery } from "./try-delivery.ts";

export interface DispatcherParts extends TryParts {
  log(line: string): void;
  onDefect(error: unknown): void;
  /** Nobody else delivers: what is claimed at the start was claimed by a process that is dead. */
  readonly isOnly: boolean;
}

/** How soon it sees what other parts and other processes have stored: nobody has to tell it, so nobody can forget to. */
const LOOK_MS = 500;
/**
 * After a failure of our own storage, twice as long after each that follows it: one connection that is cut delays nothing that
 * anybody notices, and messages whose outcome cannot be recorded are not sent over and over.
 */
const FIRST_REST_MS = 500;
const LAST_REST_MS = 10_000;
const MAX_FLYING = 32;
/** A receiver that is slow or dead holds no more than these. */
const MAX_FLYING_IN_LANE = 4;
/** A try takes as long as its timeout, and what comes before and after. Then another process may send it. */
const LEASE_BEYOND_TIMEOUT_MS = 30_000;
const FORGET_AFTER_MS = 30 * 24 * 60 * 60 * 1_000;
const FORGET_EVERY_MS = 60 * 60 * 1_000;

/**
 * Delivers what is stored, until it is stopped: at least once, in no particular order. What is to be done and when is stored
 * only, so that a restart goes on as if nothing had been; a message whose try was not recorded is sent again with the same id
 * and the same bytes. Processes that deliver side by side claim what they send.
 */
export class DeliveryDispatcher {
  readonly #parts: DispatcherParts;
  readonly #name = randomUUID();
  /** Claims of whom are to be given back, as soon as something can be written. */
  #toRelease: string | undefined;
  readonly #flying = new Map<string, { readonly lane: string; readonly landed: Promise<void> }>();
  readonly #unreadable = new Set<number>();
  readonly #stopTries = new AbortController();
  #round: Promise<void> | undefined;
  #isWanted = false;
  #isStopped = false;
  #cancelWake: (() => void) | undefined;
  #restMs = FIRST_REST_MS;
  #restUntil = 0;
  #forgotAt = 0;
  #hasWarned = false;

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
    if (parts.isOnly) this.#toRelease = "all";
  }

  /** Goes on by itself from now on. */
  start(): void {
    this.#look();
  }

  /** Begins no more, and waits for what flies until `force` aborts: then that is sent again by the next start. */
  async stop(force: AbortSignal): Promise<void> {
    this.#isStopped = true;
    this.#cancelWake?.();
    const hurry = () => this.#stopTries.abort();
    if (force.aborted) hurry();
    else force.addEventListener("abort", hurry, { once: true });
    await this.#round;
    await Promise.all([...this.#flying.values()].map(({ landed }) => landed));
    // If it cannot be given back, it is sent again when the lease has ended.
    await this.#release().catch((error: unknown) => this.#parts.onDefect(error));
    force.removeEventListener("abort", hurry);
  }

  #look(): void {
    if (this.#isStopped) return;
    const restMs = this.#restUntil - this.#parts.app.clock.now();
    if (restMs > 0) {
      this.#lookLater(restMs);
      return;
    }
    this.#isWanted = true;
    this.#round ??= this.#lookAround();
  }

  async #lookAround(): Promise<void> {
    try {
      while (this.#isWanted && !this.#isStopped) {
        this.#isWanted = false;
        await this.#release();
        await this.#forgetOld();
        await takeUpWebhooks(this.#parts.app, this.#unreadable, this.#parts.onDefect);
        await takeUpNotices(this.#parts.app, this.#unreadable, this.#parts.onDefect);
        await this.#sendDue();
      }
      if (this.#flying.size === 0) this.#restMs = FIRST_REST_MS;
    } catch (error) {
      this.#rest(error);
    }
    this.#round = undefined;
    this.#lookLater(LOOK_MS);
  }

  #rest(error: unknown): void {
    this.#parts.onDefect(error);
    this.#restUntil = this.#parts.app.clock.now() + this.#restMs;
    this.#restMs = Math.min(2 * this.#restMs, LAST_REST_MS);
  }

  #lookLater(pauseMs: number): void {
    const { clock } = this.#parts.app;
    this.#cancelWake?.();
    if (!this.#isStopped) this.#cancelWake = clock.wakeAt(clock.now() + pauseMs, () => this.#look());
  }

  async #release(): Promise<void> {
    const by = this.#toRelease;
    if (by === undefined) return;
    const { deliveries } = await this.#parts.app.service();
    await deliveries.release({ by, except: [...this.#flying.keys()] });
    this.#toRelease = undefined;
  }

  async #forgetOld(): Promise<void> {
    const now = this.#parts.app.clock.now();
    if (now - this.#forgotAt < FORGET_EVERY_MS) return;
    this.#forgotAt = now;
    await (await this.#parts.app.service()).deliveries.forgetEndedBefore(now - FORGET_AFTER_MS);
  }

  async #sendDue(): Promise<void> {
    const { app } = this.#parts;
    const { deliveries } = await app.service();
    // Each pass fills a place or finds nothing: lanes that are full are not looked at again.
    while (this.#flying.size < MAX_FLYING && !this.#isStopped) {
      const due = await deliveries.claimDue({
        now: app.clock.now(),
        limit: MAX_FLYING - this.#flying.size,
        perLane: MAX_FLYING_IN_LANE,
        lanesUnderWay: [...this.#flying.values()].map(({ lane }) => lane),
        by: this.#name,
        leaseMs: app.config.settings.webhook.timeout_ms + LEASE_BEYOND_TIMEOUT_MS,
      });
      if (due.length === 0) return;
      // A process that slept past its own lease may be given what it still sends.
      for (const delivery of due) if (!this.#flying.has(delivery.id)) this.#send(delivery);
    }
  }

  #send(delivery: Delivery): void {
    if (delivery.channel === "webhook") this.#warnUnsigned();
    const landed = this.#tryOnce(delivery).then(
      (isRecorded) => {
        this.#flying.delete(delivery.id);
        if (isRecorded) {
          this.#restMs = FIRST_REST_MS;
          this.#look();
        } else this.#toRelease ??= this.#name;
      },
      (error: unknown) => {
        this.#flying.delete(delivery.id);
        this.#toRelease ??= this.#name;
        this.#rest(error);
      },
    );
    this.#flying.set(delivery.id, { lane: delivery.lane, landed });
  }

  /** False: it was broken off. */
  async #tryOnce(delivery: Delivery): Promise<boolean> {
    const { app, log } = this.#parts;
    const tried = await tryDelivery(delivery, this.#parts, this.#stopTries.signal);
    const { deliveries } = await app.service();
    const named = `${delivery.channel} ${delivery.id} (${delivery.event}) to ${showReceiver(delivery, (text) => app.mask(text))}`;
    switch (tried.is) {
      case "made":
        await deliveries.record(delivery, tried);
        if (tried.next.status === "failed") log(`${named} was not delivered: ${tried.next.reason}`);
        return true;
      case "skipped":
        await deliveries.skip(delivery, { at: app.clock.now(), reason: tried.reason });
        log(`${named} is left out: ${tried.reason}`);
        return true;
      case "stopped":
        return false;
    }
  }

  #warnUnsigned(): void {
    const { app, log } = this.#parts;
    if (this.#hasWarned || app.config.settings.webhook.secret !== undefined) return;
    this.#hasWarned = true;
    log("Webhooks are sent unsigned: set WEBHOOK_SECRET so that receivers can tell that they come from here.");
  }
}
