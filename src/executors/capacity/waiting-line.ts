/** The one that a call is made for. */
export interface LineMember {
  readonly runId: string;
  readonly tenantId?: string | undefined;
  /** Higher goes first. */
  readonly priority?: number | undefined;
}

/** A lower priority gets a place after so long for each level that it is lower, so that nothing waits for ever. */
const AGE_MS = 60_000;

/** Calls in flight of a tenant or a run, and the order in which it was served last, or began to wait. */
interface Service {
  inFlight: number;
  turn: number;
}

interface RunLine<Member> extends Service {
  readonly tenant: Service;
  readonly level: Level;
  readonly waiting: Member[];
}

/** Runs of one priority. */
interface Level {
  readonly priority: number;
  /** Since it was served last, or began to wait. */
  sinceMs: number;
  waiting: number;
}

/** The calls that wait for a place, in order of priority, calls in flight of the tenant, calls in flight of the run, and last turn. */
export class WaitingLine<Member extends LineMember> {
  readonly #runs = new Map<string, RunLine<Member>>();
  readonly #tenants = new Map<string, Service>();
  readonly #levels = new Map<number, Level>();
  #turns = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** `first`: it was sent in vain, and goes before the others of its run. */
  push(member: Member, { now, first }: { readonly now: number; readonly first: boolean }): void {
    const run = this.#runOf(member);
    if (run.level.waiting === 0) run.level.sinceMs = now;
    if (run.waiting.length === 0 && run.inFlight === 0) run.turn = this.#nextTurn();
    if (first) run.waiting.unshift(member);
    else run.waiting.push(member);
    this.#count(run, 1);
  }

  /** False: it does not wait here. */
  remove(member: Member): boolean {
    const run = this.#runOf(member);
    const index = run.waiting.indexOf(member);
    if (index >= 0) {
      run.waiting.splice(index, 1);
      this.#count(run, -1);
    }
    this.#forgetIdle(member);
    return index >= 0;
  }

  /** Takes the next one out, which counts as in flight until `ended`. */
  take(now: number): Member | undefined {
    const run = this.#next(now);
    const member = run?.waiting.shift();
    if (run === undefined || member === undefined) return undefined;
    run.level.sinceMs = now;
    this.#count(run, -1);
    for (const served of [run, run.tenant]) {
      served.inFlight += 1;
      served.turn = this.#nextTurn();
    }
    return member;
  }

  ended(member: Member): void {
    const run = this.#runOf(member);
    run.inFlight -= 1;
    run.tenant.inFlight -= 1;
    this.#forgetIdle(member);
  }

  #next(now: number): RunLine<Member> | undefined {
    let next: RunLine<Member> | undefined;
    for (const run of this.#runs.values()) {
      if (run.waiting.length > 0 && (next === undefined || goesBefore(run, next, now))) next = run;
    }
    return next;
  }

  #count({ level }: RunLine<Member>, by: number): void {
    level.waiting += by;
    this.#size += by;
  }

  #runOf({ runId, tenantId = "", priority = 0 }: Member): RunLine<Member> {
    return known(this.#runs, keyOf(runId, priority), () => ({
      tenant: known(this.#tenants, tenantId, () => ({ inFlight: 0, turn: this.#nextTurn() })),
      level: known(this.#levels, priority, () => ({ priority, sinceMs: 0, waiting: 0 })),
      waiting: [],
      inFlight: 0,
      turn: this.#nextTurn(),
    }));
  }

  #forgetIdle({ runId, priority = 0 }: Member): void {
    const key = keyOf(runId, priority);
    const run = this.#runs.get(key);
    if (run !== undefined && run.waiting.length === 0 && run.inFlight === 0) this.#runs.delete(key);
    if (this.#runs.size > 0) return;
    this.#tenants.clear();
    this.#levels.clear();
  }

  #nextTurn(): number {
    this.#turns += 1;
    return this.#turns;
  }
}

function goesBefore(one: RunLine<unknown>, other: RunLine<unknown>, now: number): boolean {
  const byLevel = levelOf(one.level, now) - levelOf(other.level, now);
  if (byLevel !== 0) return byLevel > 0;
  // The lower one has waited longer.
  if (one.level !== other.level) return one.level.priority < other.level.priority;
  if (one.tenant !== other.tenant) return isBehindInService(one.tenant, other.tenant);
  return isBehindInService(one, other);
}

function levelOf({ priority, sinceMs }: Level, now: number): number {
  return priority + Math.floor(Math.max(0, now - sinceMs) / AGE_MS);
}

function isBehindInService(one: Service, other: Service): boolean {
  return one.inFlight !== other.inFlight ? one.inFlight < other.inFlight : one.turn < other.turn;
}

function keyOf(runId: string, priority: number): string {
  return `${priority} ${runId}`;
}

function known<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const value = map.get(key) ?? make();
  map.set(key, value);
  return value;
}
