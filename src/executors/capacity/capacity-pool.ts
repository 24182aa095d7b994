import { toIsoTime } from "../../core/iso-time.ts";
import type { CapacityWait, PoolState } from "../../ports/capacity.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Failed, Task } from "../../ports/executor.ts";
import type { PoolShare } from "../../ports/pool-shares.ts";
import { toInterrupted } from "../output/failure.ts";
import type { Limit, LimitedPool } from "./limit.ts";
import type { ShareExchange } from "./share-exchange.ts";
import { readThrottle, type Throttle } from "./throttle.ts";
import { WaitingLine } from "./waiting-line.ts";
import { type SentCall, WidthRule } from "./width-rule.ts";

/** The task that a call is made for. */
export type Caller = Pick<Task, "runId" | "tenantId" | "priority" | "emit">;

export type Accepted = () => void;

/** A call that can be sent again where the server refuses it. */
export interface PooledCall<Reply> {
  readonly caller: Caller;
  /** Calls `accepted` as soon as the server is known to work on it. */
  send(accepted: Accepted): Promise<Reply>;
  /** Undefined: it was answered well. */
  failureOf(reply: Reply): Failed | undefined;
  /** Whether a call may be sent again that has done something, since the server could not keep up. Absent: never. */
  mayRepeat?(failed: Failed): boolean;
  /** Of a call that was not sent. */
  toReply(failed: Failed): Reply;
}

export interface PoolOptions {
  readonly limit: Limit;
  readonly ofProvider: Limit | undefined;
  readonly clock: Clock;
  /** Absent: no other process uses the server. */
  readonly exchange: Pick<ShareExchange, "soon" | "keep"> | undefined;
  /** Calls fail when the server has taken nothing for so long. */
  readonly patienceMs: number;
  random(): number;
}

/** A call on its way through the pool. */
interface Waiter extends Pick<Task, "runId" | "tenantId" | "priority"> {
  readonly caller: Caller;
  refusals: number;
  /** When it was refused first. */
  refusedSince?: number;
  /** Ends its own wait after a refusal. Absent: it waits in the line. */
  stopPause?: (() => void) | undefined;
  /** Ends its wait: it was sent, or fails. */
  end(turn: SentCall | Failed): void;
}

/** How long a refused call waits by itself. It may come earlier where the server has named no time. */
interface Pause {
  readonly ms: number;
  readonly isNamed: boolean;
}

/** A refusal comes sooner, so a call without one is being worked on. */
const SILENT_ACCEPT_MS = 2_000;
/** What is refused after it has cost something is not soon tried again. */
const FIRST_PAID_WAIT_MS = 1_000;
const LONGEST_PAID_WAIT_MS = 60_000;
const FIRST_NOTE_MS = 100;
const NOTE_EVERY_MS = 1_000;

/** The calls to one server from all runs of the process. A refused call waits here and is sent again, without using the step's retry policy. */
export class CapacityPool implements LimitedPool {
  readonly limit: Limit;
  readonly #options: PoolOptions;
  readonly #limits: readonly Limit[];
  readonly #rule: WidthRule;
  /** All that wait: in the line, and by themselves after a refusal. */
  readonly #waiters = new Set<Waiter>();
  readonly #waitersOf = new Map<string, { readonly caller: Caller; waiting: number }>();
  readonly #line = new WaitingLine<Waiter>();
  /** Own waits that may end early. */
  readonly #pauses = new Set<Waiter>();
  /** Places that stay empty for a while after a refusal. */
  #held = 0;
  #refused = 0;
  /** The first refusal since the server has taken a call. */
  #refusedSince: number | undefined;
  #closedUntil = 0;
  #stopLooking: (() => void) | undefined;
  #isNoteDue = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.limit = options.limit;
    this.#limits = [options.limit, ...(options.ofProvider === undefined ? [] : [options.ofProvider])];
    const ceiling = Math.min(...this.#limits.map(({ max }) => max));
    this.#rule = new WidthRule({ ceiling, random: options.random });
    for (const limit of this.#limits) limit.add(this);
  }

  get name(): string {
    return this.limit.name;
  }

  get waiting(): number {
    return this.#waiters.size;
  }

  get isIdle(): boolean {
    return this.#rule.inFlight === 0 && this.#waiters.size === 0;
  }

  get state(): PoolState {
    const { width, inFlight, isClosed } = this.#rule;
    const closed = isClosed && this.#closedUntil > this.#now() ? { closedUntil: this.#closedUntil } : {};
    return { name: this.name, width, inFlight, waiting: this.#waiters.size, refused: this.#refused, ...closed };
  }

  waitOf(runId: string): CapacityWait | undefined {
    const waitingHere = this.#waitersOf.get(runId)?.waiting;
    return waitingHere === undefined ? undefined : { ...this.state, waitingHere };
  }

  heard({ elsewhere, wanting }: Pick<PoolShare, "elsewhere" | "wanting">): void {
    const wantsHere = this.#waiters.size > 0 ? 1 : 0;
    this.#rule.heard({ inFlight: this.#rule.inFlight + elsewhere, wanting: wanting + wantsHere });
  }

  close(): void {
    for (const limit of this.#limits) limit.remove(this);
  }

  /** Waits for a place and sends the call, and both again while the server refuses it. */
  async send<Reply>(pooled: PooledCall<Reply>, signal: AbortSignal): Promise<Reply> {
    const { runId, tenantId, priority } = pooled.caller;
    const waiter: Waiter = { runId, tenantId, priority, caller: pooled.caller, refusals: 0, end: () => undefined };
    for (let pause: Pause | undefined; ; ) {
      const turn = await this.#waitForPlace(waiter, pause, signal);
      if ("status" in turn) return pooled.toReply(turn);
      const sent = await this.#sendOnce(pooled, waiter, turn);
      if ("reply" in sent) return sent.reply;
      pause = sent;
    }
  }

  async #waitForPlace(waiter: Waiter, pause: Pause | undefined, signal: AbortSignal): Promise<SentCall | Failed> {
    if (signal.aborted) return toInterrupted("none");
    const { caller } = waiter;
    const { promise, resolve } = Promise.withResolvers<SentCall | Failed>();
    waiter.end = (turn) => {
      this.#count(waiter, -1);
      resolve(turn);
    };
    this.#count(waiter, 1);
    if (pause === undefined) this.#enter(waiter, false);
    else this.#pause(waiter, pause);
    if (!this.#waiters.has(waiter)) return promise;

    const stop = () => this.#fail(waiter, toInterrupted("none"));
    signal.addEventListener("abort", stop, { once: true });
    caller.emit({ type: "capacity", isWaiting: true });
    this.#noteIn(FIRST_NOTE_MS);
    const turn = await promise;
    signal.removeEventListener("abort", stop);
    caller.emit({ type: "capacity", isWaiting: false });
    if (!this.#waitersOf.has(waiter.runId)) this.#tell(caller, 0);
    return turn;
  }

  async #sendOnce<Reply>(
    pooled: PooledCall<Reply>,
    waiter: Waiter,
    call: SentCall,
  ): Promise<{ readonly reply: Reply } | Pause> {
    const { clock } = this.#options;
    const accepted = () => {
      if (call.isHeard) return;
      this.#refusedSince = undefined;
      this.#rule.taken(call, { othersWait: this.#line.size > 0 });
      this.#endOnePause();
      this.pump();
    };
    const stopSilence = clock.wakeAt(call.sentAt + SILENT_ACCEPT_MS, accepted);
    try {
      const reply = await pooled.send(accepted);
      const failed = pooled.failureOf(reply);
      if (failed === undefined) {
        accepted();
        this.#rule.answered(call, clock.now());
        return { reply };
      }
      const throttle = readThrottle(failed, clock.now());
      const pause = throttle === undefined ? undefined : this.#refuse(waiter, call, { ...throttle, failed });
      if (pause === undefined || !(throttle?.isUndone || pooled.mayRepeat?.(failed))) return { reply };
      const message = `${failed.message} It waits, and is sent again.`;
      waiter.caller.emit({ type: "log", event: { type: "note", message } });
      return pause;
    } finally {
      stopSilence();
      this.#rule.ended(call, clock.now());
      this.#line.ended(waiter);
      for (const limit of this.#limits) limit.gaveBack(this);
      this.pump();
    }
  }

  /** Undefined: the refusal is the answer, since the server has refused for too long, or asks for more time than that. */
  #refuse(
    waiter: Waiter,
    call: SentCall,
    { failed, isUndone, retryAfterMs: namedMs }: Throttle & { readonly failed: Failed },
  ): Pause | undefined {
    const { clock, patienceMs } = this.#options;
    const now = clock.now();
    this.#refused += 1;
    this.#refusedSince ??= now;
    waiter.refusedSince ??= now;
    waiter.refusals += 1;
    const paidMs = Math.min(LONGEST_PAID_WAIT_MS, FIRST_PAID_WAIT_MS * 2 ** Math.min(waiter.refusals - 1, 20));
    const retryAfterMs = namedMs ?? (isUndone ? undefined : paidMs);
    this.#closedUntil = now + this.#rule.refused(call, { now, retryAfterMs });
    this.#held += 1;
    clock.wakeAt(this.#closedUntil, () => {
      this.#held -= 1;
      this.pump();
    });
    const ms = this.#rule.waitMs(waiter.refusals, retryAfterMs);
    const isGivenUp = (since: number) => now - since + ms > patienceMs;
    if (this.#rule.isClosed && isGivenUp(this.#refusedSince))
      for (const other of [...this.#waiters]) this.#fail(other, failed);
    return isGivenUp(waiter.refusedSince) ? undefined : { ms, isNamed: retryAfterMs !== undefined };
  }

  /** Sends what may be sent now, and looks again when time alone can change that. */
  pump(): void {
    const now = this.#now();
    const { exchange, clock } = this.#options;
    if (!this.isIdle) exchange?.keep();
    this.#stopLooking?.();
    this.#stopLooking = undefined;
    while (this.#line.size > 0) {
      if (!this.#limits.every((limit) => limit.hasRoom(now))) {
        if (!this.#limits.every(({ isTold }) => isTold)) exchange?.soon();
        return;
      }
      const waiter = this.#rule.allows(this.#held, now) ? this.#line.take(now) : undefined;
      if (waiter === undefined) break;
      for (const limit of this.#limits) limit.took();
      waiter.end(this.#rule.sent(now));
    }
    const at = this.#rule.probeAt;
    if (this.#line.size > 0 && at > now) this.#stopLooking = clock.wakeAt(at, () => this.pump());
  }

  #enter(waiter: Waiter, isAgain: boolean): void {
    this.#line.push(waiter, { now: this.#now(), first: isAgain });
    this.pump();
  }

  #pause(waiter: Waiter, { ms, isNamed }: Pause): void {
    waiter.stopPause = this.#options.clock.wakeAt(this.#now() + ms, () => this.#endPause(waiter));
    if (!isNamed) this.#pauses.add(waiter);
  }

  #endPause(waiter: Waiter): void {
    this.#leavePause(waiter);
    this.#enter(waiter, true);
  }

  #leavePause(waiter: Waiter): void {
    waiter.stopPause?.();
    waiter.stopPause = undefined;
    this.#pauses.delete(waiter);
  }

  /** The server takes calls, and none is in the line. */
  #endOnePause(): void {
    const [first] = this.#pauses;
    if (this.#line.size === 0 && first !== undefined) this.#endPause(first);
  }

  #fail(waiter: Waiter, failed: Failed): void {
    this.#line.remove(waiter);
    this.#leavePause(waiter);
    waiter.end(failed);
  }

  #count(waiter: Waiter, by: 1 | -1): void {
    const { runId, caller } = waiter;
    const of = this.#waitersOf.get(runId) ?? { caller, waiting: 0 };
    of.waiting += by;
    if (of.waiting === 0) this.#waitersOf.delete(runId);
    else this.#waitersOf.set(runId, of);
    if (by === 1) this.#waiters.add(waiter);
    else this.#waiters.delete(waiter);
  }

  /** Tells those who watch a run what its calls wait for: once for all of them, while they wait. */
  #noteIn(ms: number): void {
    if (this.#isNoteDue) return;
    this.#isNoteDue = true;
    this.#options.clock.wakeAt(this.#now() + ms, () => {
      this.#isNoteDue = false;
      for (const { caller, waiting } of this.#waitersOf.values()) this.#tell(caller, waiting);
      if (this.#waiters.size > 0) this.#noteIn(NOTE_EVERY_MS);
    });
  }

  #tell(caller: Caller, waiting: number): void {
    const { name: pool, width, inFlight: in_flight, waiting: waiting_in_all, closedUntil } = this.state;
    const closed_until = closedUntil === undefined ? null : toIsoTime(closedUntil);
    const event = { type: "capacity", pool, in_flight, width, waiting, waiting_in_all, closed_until };
    caller.emit({ type: "live", event });
  }

  #now(): number {
    return this.#options.clock.now();
  }
}
