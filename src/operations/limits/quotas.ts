import { AsyncLocalStorage } from "node:async_hooks";
import { getHeapStatistics } from "node:v8";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { ObservedEvent, ObservedRun, RunObserver } from "../../ports/run-observer.ts";
import { inTurnsOf } from "../../ports/turns.ts";

/** What each tenant may have at once in a process. Callers without a tenant have their server to themselves: of them only the memory is counted against a limit. */
export const QUOTAS = {
  requests: "requests under way",
  bodies: "large request bodies being read",
  streams: "open streams",
  runs: "runs that have not ended",
  memory: "bytes that its requests hold in memory",
  stored_bytes: "bytes that its runs have stored",
} as const;

export type QuotaName = keyof typeof QUOTAS;

export type QuotaSettings = Readonly<Record<Exclude<QuotaName, "memory">, number>>;

type Uses = Record<QuotaName, number>;

export const NOTHING_IN_USE: Readonly<Uses> = {
  ...{ requests: 0, bodies: 0, streams: 0, runs: 0 },
  ...{ memory: 0, stored_bytes: 0 },
};

/** A tenant has an eighth of the memory at most, all tenants together a quarter: the rest is for runs, and for what is not counted. */
const TENANT_PART = 8;
const PART_OF_ALL = 4;

/** What a tenant has stored is read again after so many times the time that reading it took. */
const READ_PART = 50;

/** What a tenant's runs have stored, by the records of all processes. */
export type ReadStored = (tenant: string) => Promise<number>;

/** Counts what is in use, for this process alone; what is stored is in the records, which all processes share. */
export class Quotas implements RunObserver {
  readonly most: Readonly<Uses>;
  readonly #used = new Map<string, Uses>();
  readonly #runs = new Set<string>();
  readonly #readStored: ReadStored;
  readonly #stored = new Map<string, Promise<number>>();
  #memoryOfAll = 0;

  constructor(
    { requests, bodies, streams, runs, stored_bytes }: QuotaSettings,
    readStored: ReadStored,
    heapBytes = getHeapStatistics().heap_size_limit,
  ) {
    this.most = { requests, bodies, streams, runs, memory: Math.floor(heapBytes / TENANT_PART), stored_bytes };
    this.#readStored = readStored;
  }

  /** Throws `QUOTA_EXCEEDED`, `STORED_TOO_MUCH`: the tenant may begin no run. */
  async admitRun(tenant: string): Promise<void> {
    this.check(tenant, "runs", 1);
    if (tenant === "" || (await this.readStored(tenant)) < this.most.stored_bytes) return;
    throw new PawlError("STORED_TOO_MUCH", {
      message: `The runs of this tenant have stored ${this.#used.get(tenant)?.stored_bytes} bytes; from ${this.most.stored_bytes} on it begins none.`,
      details: { quota: "stored_bytes", most: this.most.stored_bytes },
    });
  }

  /** As of a moment ago: what many have asked for is read once. */
  readStored(tenant: string): Promise<number> {
    const known = this.#stored.get(tenant) ?? this.#readAnew(tenant);
    this.#stored.set(tenant, known);
    return known;
  }

  async #readAnew(tenant: string): Promise<number> {
    const began = performance.now();
    try {
      const bytes = await this.#readStored(tenant);
      this.#note(tenant, "stored_bytes", bytes - (this.#used.get(tenant)?.stored_bytes ?? 0));
      return bytes;
    } finally {
      const forget = () => this.#stored.delete(tenant);
      setTimeout(forget, READ_PART * (performance.now() - began)).unref();
    }
  }

  /** Throws `QUOTA_EXCEEDED`, and `ANSWER_TOO_LARGE` for memory. */
  take(tenant: string, name: QuotaName, amount: number): void {
    this.check(tenant, name, amount);
    this.#note(tenant, name, amount);
  }

  /** Throws where there is no room for so much more. */
  check(tenant: string, name: QuotaName, amount: number): void {
    const used = this.#used.get(tenant)?.[name] ?? 0;
    const isFull = name === "memory" && this.#memoryOfAll + amount > (this.most.memory * TENANT_PART) / PART_OF_ALL;
    const isOver = used + amount > this.most[name] && (name === "memory" || tenant !== "");
    if (isFull || isOver) throw refusal(name, this.most[name], isFull);
  }

  /** Runs that this process drives count, however they were started, from their first event here. */
  committed({ runId, tenantId = "" }: ObservedRun, events: readonly ObservedEvent[]): void {
    const hasEnded = events.some(({ event }) => event.type === "runFinished");
    if (hasEnded ? !this.#runs.delete(runId) : this.#runs.has(runId)) return;
    if (!hasEnded) this.#runs.add(runId);
    this.#note(tenantId, "runs", hasEnded ? -1 : 1);
  }

  #note(tenant: string, name: QuotaName, amount: number): void {
    const used = this.#used.get(tenant) ?? { ...NOTHING_IN_USE };
    used[name] += amount;
    if (name === "memory") this.#memoryOfAll += amount;
    if (Object.values(used).some((each) => each !== 0)) this.#used.set(tenant, used);
    else this.#used.delete(tenant);
  }

  give(tenant: string, name: QuotaName, amount: number): void {
    this.#note(tenant, name, -amount);
  }

  /** By tenant. */
  get used(): ReadonlyMap<string, Readonly<Uses>> {
    return this.#used;
  }
}

function refusal(name: QuotaName, most: number, isFull: boolean): PawlError {
  if (name !== "memory") {
    const message = `There are ${most} ${QUOTAS[name]} of this tenant, and may not be more.`;
    return new PawlError("QUOTA_EXCEEDED", { message, details: { quota: name, most } });
  }
  const message = isFull
    ? "The answers and bodies of all requests would take too much memory."
    : `The answers and bodies of this tenant's requests would take more than ${most >> 20} MiB of memory.`;
  return new PawlError("ANSWER_TOO_LARGE", { message, details: { quota: name, most } });
}

/** What one request has in use: given back as a whole, when its answer is sent. */
export class RequestUse {
  readonly #quotas: Quotas;
  readonly #held = new Map<QuotaName, number>();
  #tenant: string | undefined;

  constructor(quotas: Quotas) {
    this.#quotas = quotas;
  }

  get tenant(): string | undefined {
    return this.#tenant;
  }

  /** The caller is known. Nothing is counted before. */
  admit(tenant: string): void {
    if (this.#tenant !== undefined) return;
    this.#tenant = tenant;
    this.take("requests", 1);
  }

  take(name: QuotaName, amount: number): void {
    if (this.#tenant === undefined) return;
    this.#quotas.take(this.#tenant, name, amount);
    this.#held.set(name, (this.#held.get(name) ?? 0) + amount);
  }

  release(name?: QuotaName): void {
    for (const [each, amount] of this.#held) {
      if (this.#tenant === undefined || (name !== undefined && name !== each)) continue;
      this.#held.delete(each);
      this.#quotas.give(this.#tenant, each, amount);
    }
    if (name === undefined) this.#tenant = undefined;
  }
}

/** The request that asks, known to whatever it asks: values are read far from it. There is one in each chain of calls. */
const current = new AsyncLocalStorage<RequestUse>();

export function inRequest<Result>(use: RequestUse, perform: () => Result): Result {
  return current.run(use, () => inTurnsOf(use, perform));
}

/** Undefined: no request asks. */
export function currentRequest(): RequestUse | undefined {
  return current.getStore();
}

/** Throws `ANSWER_TOO_LARGE` where requests hold too much already. */
export function holdInMemory(bytes: number): void {
  current.getStore()?.take("memory", bytes);
}

const SAMPLES = 64;
const SAMPLE_CHARS = 256;
const BYTES_PER_PART = 64;

/**
 * About how much memory a text takes until it is parsed, printed and sent. A list of `{}` takes twenty times its length, so
 * its parts are counted: in a sample, at places that nobody knows before.
 */
export function weighJson(json: string): number {
  const step = Math.max(SAMPLE_CHARS, Math.ceil(json.length / SAMPLES));
  let parts = 0;
  let seen = 0;
  for (let from = 0; from < json.length; from += step) {
    const at = from + Math.floor(Math.random() * (step - SAMPLE_CHARS + 1));
    const sample = json.slice(at, at + SAMPLE_CHARS);
    for (const sign of sample) if (sign === "," || sign === "{" || sign === "[") parts += 1;
    seen += sample.length;
  }
  return 3 * json.length + Math.ceil((parts * BYTES_PER_PART * json.length) / Math.max(1, seen));
}
