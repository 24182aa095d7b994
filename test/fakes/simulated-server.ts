import type { Accepted, CapacityPool } from "../../src/executors/capacity/capacity-pool.ts";
import { CapacityPools } from "../../src/executors/capacity/capacity-pools.ts";
import { toFailed } from "../../src/executors/output/failure.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { Failed } from "../../src/ports/executor.ts";
import type { PoolShares } from "../../src/ports/pool-shares.ts";
import { dividePlaces, type Members } from "../../src/storage/postgres/divide-places.ts";
import { Random } from "../simulation/random.ts";
import { RateLimit, type RateLimitOptions } from "./rate-limit.ts";

interface SimulatedServerOptions {
  readonly places: number;
  /** It limits requests by rate, too. */
  readonly rate?: RateLimitOptions;
  /** The part of all calls that it refuses by chance, whatever it has room for. */
  readonly refuses?: number;
  /** The part that it answers with an error of its own, after its work: the caller asks again, three times in all. */
  readonly breaks?: number;
  readonly seed?: number;
  readonly holdMs?: number;
  /** By what part of it calls take longer or shorter. */
  readonly spread?: number;
  readonly retryAfter?: string | undefined;
  /** The answer of a refusal. */
  readonly reason?: string;
  /** The answer begins when the work is done. */
  readonly isSilent?: boolean;
  /** How long a place stays in use after its answer. */
  readonly freesLateMs?: number;
  readonly patienceMs?: number;
  readonly limits?: Readonly<Record<string, number>>;
  /** Of the provider `acme`, with a pool each. Absent: one agent server. */
  readonly models?: readonly string[];
  /** How many processes call it, each with pools of its own. */
  readonly processes?: number;
}

interface Asked {
  readonly runId?: string;
  readonly tenantId?: string;
  readonly priority?: number;
  readonly model?: string;
  readonly process?: number;
}

const URL_OF = new URL("http://server.test/query");
/** Each way of the network. */
const WAY_MS = 1;

/** As many as a call needs from one wait to the next. */
const MICROTASKS = 12;

/** Time that a test moves, for very many alarms: what happens between two of them needs no turn of the event loop. */
class QuickClock implements Clock {
  #now = 0;
  readonly #alarms: { readonly atMs: number; wake: (() => void) | undefined }[] = [];

  now(): number {
    return this.#now;
  }

  wakeAt(atMs: number, wake: () => void): () => void {
    const alarm: { readonly atMs: number; wake: (() => void) | undefined } = { atMs, wake };
    let [from, to] = [0, this.#alarms.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.#alarms[middle]?.atMs ?? 0) <= atMs) from = middle + 1;
      else to = middle;
    }
    this.#alarms.splice(from, 0, alarm);
    return () => {
      alarm.wake = undefined;
    };
  }

  async advance(ms: number): Promise<void> {
    const target = this.#now + ms;
    await flush();
    for (let [next] = this.#alarms; next !== undefined && next.atMs <= target; [next] = this.#alarms) {
      this.#alarms.shift();
      if (next.wake === undefined) continue;
      this.#now = Math.max(this.#now, next.atMs);
      next.wake();
      await flush();
    }
    this.#now = target;
  }
}

async function flush(): Promise<void> {
  for (let left = MICROTASKS; left > 0; left -= 1) await undefined;
}

/** The database of several processes, of which nothing but their shares is of interest. */
class SharesInMemory {
  readonly #pools = new Map<string, Members>();
  readonly #wait: (ms: number) => Promise<void>;
  readonly #clock: Clock;
  isBroken = false;

  constructor(clock: Clock, wait: (ms: number) => Promise<void>) {
    this.#clock = clock;
    this.#wait = wait;
  }

  of(id: string): PoolShares {
    const leaseMs = 10_000;
    return {
      leaseMs,
      exchange: async (uses) => {
        await this.#wait(WAY_MS);
        if (this.isBroken) throw new Error("nobody there");
        const shares = uses.map((use) => {
          const before = this.#pools.get(use.name) ?? {};
          const { members, share } = dividePlaces(before, { id, use, now: this.#clock.now(), leaseMs });
          this.#pools.set(use.name, members);
          return share;
        });
        await this.#wait(WAY_MS);
        return shares;
      },
    };
  }
}

/** A server with so many places, in time that a test moves, behind a pool. */
export class SimulatedServer {
  readonly clock = new QuickClock();
  /** Of each process that calls it. */
  readonly processes: readonly CapacityPools[];
  readonly shares = new SharesInMemory(this.clock, (ms) => this.#wait(ms));
  readonly answers = { answered: 0, failed: 0 };
  readonly failures: Failed[] = [];
  readonly sentAt: number[] = [];
  readonly refusedAt: number[] = [];
  /** The runs whose calls got a place, in order. */
  readonly taken: string[] = [];
  places: number;
  most = 0;
  mostLately = 0;
  mostBeyondWidth = 0;
  readonly #options: SimulatedServerOptions;
  readonly #rate: RateLimit | undefined;
  readonly #random: () => number;
  #inUse = 0;
  #overload: (() => void)[] = [];

  constructor(options: SimulatedServerOptions) {
    const { patienceMs = 3_600_000, limits: { server, ...limits } = {} } = options;
    this.#options = options;
    this.places = options.places;
    this.#rate = options.rate === undefined ? undefined : new RateLimit(options.rate);
    const ofServer = server === undefined ? {} : { [URL_OF.origin]: server };
    const { processes = 1 } = options;
    const chance = new Random(options.seed ?? 1);
    this.#random = () => chance.share();
    const pools = { clock: this.clock, limits: { ...limits, ...ofServer }, patienceMs, random: this.#random };
    this.processes = Array.from({ length: processes }, (_, index) => {
      const shares = async () => this.shares.of(`process ${index}`);
      return new CapacityPools(processes === 1 ? pools : { ...pools, others: { shares, failed: () => undefined } });
    });
  }

  get pool(): CapacityPool {
    return this.#poolOf({});
  }

  #poolOf({ model, process = 0 }: Asked): CapacityPool {
    const pools = this.processes[process];
    if (pools === undefined) throw new Error(`no process ${process}`);
    return model === undefined ? pools.ofServer(URL_OF) : pools.ofModel("acme", model);
  }

  get refused(): number {
    return this.refusedAt.length;
  }

  ask(count: number, asked: Asked = {}): void {
    for (let call = 0; call < count; call += 1) void this.askOne(asked, new AbortController().signal);
  }

  async askOne(asked: Asked, signal: AbortSignal): Promise<Failed | undefined> {
    let failed = await this.#try(asked, signal);
    for (let tries = 1; tries < 3 && failed?.code === "AGENT_STREAM_CUT"; tries += 1)
      failed = await this.#try(asked, signal);
    this.answers[failed === undefined ? "answered" : "failed"] += 1;
    if (failed !== undefined) this.failures.push(failed);
    return failed;
  }

  #try(asked: Asked, signal: AbortSignal): Promise<Failed | undefined> {
    const { runId = "run", tenantId, priority } = asked;
    const pool = this.#poolOf(asked);
    return pool.send<Failed | undefined>(
      {
        caller: {
          runId,
          ...(tenantId === undefined ? {} : { tenantId }),
          ...(priority === undefined ? {} : { priority }),
          emit: () => undefined,
        },
        send: (accepted) => this.#work(pool, runId, accepted),
        failureOf: (reply) => reply,
        toReply: (reply) => reply,
      },
      signal,
    );
  }

  async #work(pool: CapacityPool, runId: string, accepted: Accepted): Promise<Failed | undefined> {
    const { holdMs = 1_000, spread = 0, freesLateMs = 0, isSilent = false, refuses = 0, breaks = 0 } = this.#options;
    this.sentAt.push(this.clock.now());
    const { inFlight, width } = pool.state;
    this.mostBeyondWidth = Math.max(this.mostBeyondWidth, inFlight - width);
    await this.#wait(WAY_MS);
    const now = this.clock.now();
    if (this.#random() < refuses || this.#inUse >= this.places || this.#rate?.take(now) === false)
      return this.#refuse();
    this.#inUse += 1;
    this.taken.push(runId);
    this.most = Math.max(this.most, this.#inUse);
    this.mostLately = Math.max(this.mostLately, this.#inUse);
    await this.#wait(WAY_MS);
    if (!isSilent) accepted();
    const overloaded = await this.#hold(holdMs * (1 + spread * (2 * this.#random() - 1)));
    if (freesLateMs === 0) this.#inUse -= 1;
    else this.clock.wakeAt(this.clock.now() + freesLateMs, () => this.#free());
    if (this.#random() < breaks)
      return toFailed("AGENT_STREAM_CUT", { message: "It broke.", retryable: true, effect: "unknown" });
    return overloaded ? toFailed("TIMEOUT", { message: "Too slow.", retryable: true, effect: "none" }) : undefined;
  }

  #free(): void {
    this.#inUse -= 1;
  }

  async #refuse(): Promise<Failed> {
    const { retryAfter, reason = "busy" } = this.#options;
    await this.#wait(WAY_MS);
    this.refusedAt.push(this.clock.now());
    const details = { status: 429, answer: reason, ...(retryAfter === undefined ? {} : { retry_after: retryAfter }) };
    return toFailed("AGENT_REFUSED", { message: "It refused.", retryable: true, effect: "none", details });
  }

  /** True: it was overloaded before. */
  #hold(holdMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      this.clock.wakeAt(this.clock.now() + holdMs, () => resolve(false));
      this.#overload.push(() => resolve(true));
    });
  }

  /** Every call that is worked on fails for that. */
  overloadAll(): void {
    for (const fail of this.#overload.splice(0)) fail();
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.clock.wakeAt(this.clock.now() + ms, resolve));
  }

  /** Until every call is over, or for so long. Returns how long it took. */
  async runToEnd(ms: number): Promise<number> {
    const begin = this.clock.now();
    while (this.processes.some((_, process) => !this.#poolOf({ process }).isIdle) && this.clock.now() < begin + ms)
      await this.run(5);
    return this.clock.now() - begin;
  }

  async run(ms: number): Promise<void> {
    this.mostLately = 0;
    await this.clock.advance(ms);
  }
}
