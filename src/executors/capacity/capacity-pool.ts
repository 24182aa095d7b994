import type { CapacityWait, PoolState } from "../../ports/capacity.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Failed, Task } from "../../ports/executor.ts";
import type { PoolShare } from "../../ports/pool-shares.ts";
import { toInterrupted } from "../output/failure.ts";
import { CallPace, type PacedCall } from "./call-pace.ts";
import { type Caller, CapacityNotes } from "./capacity-notes.ts";
import { CapacityWidth, type SentCall } from "./capacity-width.ts";
import { Closure } from "./closure.ts";
import { type AnswerHeaders, readRateLimits } from "./rate-headers.ts";
import type { Share } from "./share.ts";
import { isTold, type ShareExchange, type Sharer } from "./share-exchange.ts";
import type { SharedCeiling } from "./shared-ceiling.ts";
import { readThrottle } from "./throttle.ts";
import { WaitingLine } from "./waiting-line.ts";

export type Accepted = (headers?: AnswerHeaders) => void;

/** A call that can be sent again where the server refuses it. */
export interface PooledCall<Reply> {
  readonly caller: Caller;
  /** Calls `accepted` as soon as the server is known to work on it, with the headers of its answer. */
  send(accepted: Accepted): Promise<Reply>;
  /** Undefined: it was answered well. */
  failureOf(reply: Reply): Failed | undefined;
  /** Whether a call may be sent again that has done something, since the server, or who works for it, could not keep up. Absent: never. */
  mayRepeat?(failed: Failed): boolean;
  /** Of a call that was not sent. */
  toReply(failed: Failed): Reply;
}

export interface PoolOptions {
  readonly name: string;
  readonly clock: Clock;
  /** What this process has of the configured limit. */
  readonly share: Share;
  /** Absent: no other process uses the server. */
  readonly exchange?: Pick<ShareExchange, "soon" | "keep"> | undefined;
  /** Shared with other pools. */
  readonly ceiling?: SharedCeiling | undefined;
  /** Calls fail when the server has taken nothing for so long. */
  readonly patienceMs: number;
}

interface Waiter extends Pick<Task, "runId" | "tenantId" | "priority"> {
  readonly caller: Caller;
  go(call: SentCall, paced: PacedCall): void;
  fail(failed: Failed): void;
}

type Place = { readonly waiter: Waiter; readonly call: SentCall; readonly paced: PacedCall };

/** A refusal comes sooner, so a call without one is being worked on. */
const SILENT_ACCEPT_MS = 2_000;

/**
 * The calls to one server from all runs of the process: as many at once as it takes, in a fair order. A call that the server
 * refuses waits here and is sent again: that is no failure, and no try of the step's retry policy.
 */
export class CapacityPool implements Sharer {
  readonly share: Share;
  readonly #options: PoolOptions;
  readonly #width: CapacityWidth;
  readonly #pace = new CallPace(() => this.#width.release());
  readonly #closure: Closure;
  readonly #line = new WaitingLine<Waiter>();
  #inFlight = 0;
  /** Places that the server may not have freed yet. */
  #cooling = 0;
  #refused = 0;
  #stopTimer: (() => void) | undefined;
  readonly #notes: CapacityNotes;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.share = options.share;
    this.#width = new CapacityWidth(options.share.max);
    this.#closure = new Closure(options.patienceMs);
    this.#notes = new CapacityNotes(options.clock, { line: this.#line, stateOf: () => this.state });
    options.ceiling?.add(this);
  }

  get state(): PoolState {
    const { name, clock } = this.#options;
    const { until: closedUntil } = this.#closure;
    const { perSecond } = this.#pace;
    return {
      name,
      width: this.#width.width,
      inFlight: this.#inFlight,
      waiting: this.#line.size,
      refused: this.#refused,
      ...(perSecond === undefined ? {} : { perSecond }),
      ...(closedUntil > clock.now() ? { closedUntil } : {}),
    };
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get waiting(): number {
    return this.#line.size;
  }

  get closedUntil(): number {
    return this.#closure.until;
  }

  get known(): number | undefined {
    return this.#width.known;
  }

  get perSecond(): number | undefined {
    return this.#line.size === 0 ? undefined : this.#pace.perSecond;
  }

  heard({ closedUntil, perSecond, elsewhere }: PoolShare): void {
    this.#width.share({ elsewhere, fair: this.share.fair });
    this.#closure.heard(closedUntil);
    if (perSecond !== undefined) this.#pace.approach(perSecond);
  }

  get isIdle(): boolean {
    return this.#inFlight === 0 && this.#line.size === 0;
  }

  waitOf(runId: string): CapacityWait | undefined {
    const waitingHere = this.#line.waitingOf(runId);
    return waitingHere === 0 ? undefined : { ...this.state, waitingHere };
  }

  /** It is needed no longer. */
  close(): void {
    this.#options.ceiling?.remove(this);
  }

  /** Waits for a place and sends the call, and both again while the server refuses it. */
  async send<Reply>(pooled: PooledCall<Reply>, signal: AbortSignal): Promise<Reply> {
    for (let isAgain = false; ; isAgain = true) {
      const place = await this.#waitForPlace(pooled.caller, isAgain, signal);
      if ("status" in place) return pooled.toReply(place);
      const sent = await this.#sendOnce(pooled, place);
      if (sent !== "refused") return sent.reply;
    }
  }

  /** One that was refused goes before the others of its run. */
  async #waitForPlace(caller: Caller, isAgain: boolean, signal: AbortSignal): Promise<Place | Failed> {
    if (signal.aborted) return toInterrupted("none");
    const { promise, resolve } = Promise.withResolvers<Place | Failed>();
    const { runId, tenantId, priority } = caller;
    let waits = true;
    const end = (turn: Place | Failed) => {
      waits = false;
      resolve(turn);
    };
    const waiter: Waiter = {
      runId,
      tenantId,
      priority,
      caller,
      go: (call, paced) => end({ waiter, call, paced }),
      fail: end,
    };
    const now = this.#now();
    if (isAgain) this.#line.pushFirst(waiter, now);
    else this.#line.push(waiter, now);
    this.pump();
    this.#failWhereGivenUp();
    if (!waits) return promise;

    const stop = () => {
      if (this.#line.remove(waiter)) end(toInterrupted("none"));
    };
    signal.addEventListener("abort", stop, { once: true });
    caller.emit({ type: "capacity", isWaiting: true });
    this.#notes.soon();
    const turn = await promise;
    signal.removeEventListener("abort", stop);
    caller.emit({ type: "capacity", isWaiting: false });
    if (this.#line.waitingOf(runId) === 0) this.#notes.tell(caller, 0);
    return turn;
  }

  async #sendOnce<Reply>(
    pooled: PooledCall<Reply>,
    { waiter, call, paced }: Place,
  ): Promise<{ readonly reply: Reply } | "refused"> {
    let isTold = false;
    const accepted: Accepted = (headers) => {
      if (headers !== undefined && !isTold) this.#pace.told(readRateLimits(headers, this.#now()), paced, this.#now());
      isTold ||= headers !== undefined;
      if (call.isAccepted) return;
      this.#width.accepted(call);
      this.#pace.taken(paced, this.#now());
      this.#closure.accepted();
      this.pump();
    };
    const stopSilence = this.#options.clock.wakeAt(this.#now() + SILENT_ACCEPT_MS, () => accepted());
    let reply: Reply;
    try {
      reply = await pooled.send(accepted);
    } catch (error) {
      this.#pace.lost(paced);
      this.#end(waiter, call);
      throw error;
    } finally {
      stopSilence();
    }
    const failed = pooled.failureOf(reply);
    const throttle = failed === undefined ? undefined : readThrottle(failed, this.#now());
    if (throttle?.is !== "refused") this.#pace.taken(paced, this.#now());
    if (failed === undefined) {
      this.#width.answered(call);
      this.#closure.accepted();
      this.#closure.answered();
    }
    if (failed !== undefined && throttle?.is === "refused") {
      return this.#refuse({ waiter, call, paced }, { failed, retryAfterMs: throttle.retryAfterMs })
        ? { reply }
        : "refused";
    }
    if (throttle?.is === "overloaded") this.#width.overloaded(call, this.#now());
    const waits = failed !== undefined && throttle?.is === "overloaded" && this.#waitsOverloaded(pooled, failed);
    this.#end(waiter, call);
    if (!waits) return { reply };
    this.#noteRefusal(waiter, failed);
    return "refused";
  }

  #waitsOverloaded<Reply>(pooled: PooledCall<Reply>, failed: Failed): boolean {
    if (pooled.mayRepeat?.(failed) !== true) return false;
    return this.#closure.overloaded(this.#now());
  }

  #noteRefusal({ caller }: Waiter, { message }: Failed): void {
    caller.emit({ type: "log", event: { type: "note", message: `${message} It waits, and is sent again.` } });
  }

  /** True: the server has refused for too long, so that the refusal is the answer. */
  #refuse(
    { waiter, call, paced }: Place,
    { failed, retryAfterMs }: { readonly failed: Failed; readonly retryAfterMs: number | undefined },
  ): boolean {
    const now = this.#now();
    this.#refused += 1;
    const inFlight = this.#inFlight - 1;
    this.#pace.refused(paced, now);
    this.#width.refused(call, { now, retryAfterMs });
    this.#closure.refused({ failed, retryAfterMs, inFlight }, now);
    this.#end(waiter, call);
    if (this.#failWhereGivenUp()) return true;
    this.#noteRefusal(waiter, failed);
    return false;
  }

  #end(waiter: Waiter, call: SentCall): void {
    this.#width.ended(call);
    this.#inFlight -= 1;
    this.#line.ended(waiter);
    this.#coolDown();
    this.#options.ceiling?.gaveBack(this);
    this.pump();
  }

  #coolDown(): void {
    const { lateFreeMs } = this.#width;
    if (lateFreeMs === 0) return;
    this.#cooling += 1;
    this.#options.clock.wakeAt(this.#now() + lateFreeMs, () => {
      this.#cooling -= 1;
      this.pump();
    });
  }

  /** Sends what may be sent now, and looks again when time alone can change that. */
  pump(): void {
    const now = this.#now();
    const { ceiling, exchange } = this.#options;
    if (!this.isIdle) exchange?.keep();
    while (this.#line.size > 0 && now >= this.#opensAt(now)) {
      if (!this.share.hasRoom(this.#inFlight, now) || ceiling?.hasRoom(now) === false) {
        if (!isTold(this) || (ceiling !== undefined && !isTold(ceiling))) exchange?.soon();
        break;
      }
      const taken = { inFlight: this.#inFlight, cooling: this.#cooling, now };
      const waiter = this.#width.allows(taken) ? this.#line.take(now) : undefined;
      if (waiter === undefined) break;
      this.#inFlight += 1;
      ceiling?.took();
      waiter.go(this.#width.sent(taken.inFlight + taken.cooling), this.#pace.sent(this.#inFlight, now));
    }
    this.#lookAgain(now);
  }

  #opensAt(now: number): number {
    return Math.max(this.#closure.until, this.#pace.nextAt(now));
  }

  #lookAgain(now: number): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    if (this.#line.size === 0) return;
    const opensAt = this.#opensAt(now);
    const at = now < opensAt ? opensAt : this.#width.probeAt;
    if (at !== undefined && at > now) this.#stopTimer = this.#options.clock.wakeAt(at, () => this.pump());
  }

  /** Nobody waits for a server that takes nothing for longer than the patience. */
  #failWhereGivenUp(): boolean {
    const now = this.#now();
    const failed = this.#closure.givenUp(this.#inFlight, now);
    if (failed === undefined) return false;
    for (const waiter of this.#line.takeAll()) waiter.fail(failed);
    this.#lookAgain(now);
    return true;
  }

  #now(): number {
    return this.#options.clock.now();
  }
}
