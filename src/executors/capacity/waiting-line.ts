/** The one that a call is made for. */
export interface LineMember {
  readonly runId: string;
  readonly tenantId?: string | undefined;
  /** Higher goes first. */
  readonly priority?: number | undefined;
}

/** A lower priority gets a place after so long for each level that it is lower, so that nobody waits for ever. */
const AGE_MS = 60_000;

interface Share {
  inFlight: number;
  /** The order in which it was served last, or began to wait. */
  turn: number;
}

interface RunLine<Member> extends Share {
  readonly runId: string;
  readonly tenant: string;
  readonly waiting: Member[];
}

interface PriorityLine<Member> {
  readonly priority: number;
  readonly runs: Map<string, RunLine<Member>>;
  /** Since it was served last, or began to wait. */
  sinceMs: number;
}

/**
 * The calls that wait for a place. The highest priority goes first, then the tenant with the fewest calls in flight, then its
 * run with the fewest, and among equals the one that was served longest ago. In a run the order is that of asking.
 */
export class WaitingLine<Member extends LineMember> {
  readonly #priorities = new Map<number, PriorityLine<Member>>();
  readonly #tenants = new Map<string, Share>();
  #turns = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(member: Member, now: number): void {
    this.#add(member, now).waiting.push(member);
  }

  /** For a call that has been sent in vain. */
  pushFirst(member: Member, now: number): void {
    this.#add(member, now).waiting.unshift(member);
  }

  #add(member: Member, now: number): RunLine<Member> {
    const priority = this.#priorityOf(member);
    if (![...priority.runs.values()].some(({ waiting }) => waiting.length > 0)) priority.sinceMs = now;
    const run = this.#runOf(member);
    if (run.waiting.length === 0 && run.inFlight === 0) run.turn = this.#nextTurn();
    this.#size += 1;
    return run;
  }

  takeAll(): readonly Member[] {
    const all: Member[] = [];
    for (const { runs } of this.#priorities.values()) {
      for (const { waiting } of runs.values()) all.push(...waiting.splice(0));
    }
    this.#size = 0;
    for (const member of all) this.#forgetIdle(member);
    return all;
  }

  /** False: it waits no longer. */
  remove(member: Member): boolean {
    const { waiting } = this.#runOf(member);
    const index = waiting.indexOf(member);
    if (index >= 0) {
      waiting.splice(index, 1);
      this.#size -= 1;
    }
    this.#forgetIdle(member);
    return index >= 0;
  }

  /** Takes the next one out, which counts as in flight until `ended`. */
  take(now: number): Member | undefined {
    const priority = this.#nextPriority(now);
    const run = priority === undefined ? undefined : this.#nextRun(priority);
    const member = run?.waiting.shift();
    if (priority === undefined || run === undefined || member === undefined) return undefined;
    const tenant = this.#tenantOf(run.tenant);
    priority.sinceMs = now;
    this.#size -= 1;
    for (const share of [run, tenant]) {
      share.inFlight += 1;
      share.turn = this.#nextTurn();
    }
    return member;
  }

  ended(member: Member): void {
    const run = this.#runOf(member);
    run.inFlight -= 1;
    this.#tenantOf(run.tenant).inFlight -= 1;
    this.#forgetIdle(member);
  }

  /** The first of each run that waits, with the number of calls of the run that do. */
  *heads(): Generator<{ readonly first: Member; readonly waiting: number }> {
    for (const { runs } of this.#priorities.values()) {
      for (const { waiting } of runs.values()) {
        const [first] = waiting;
        if (first !== undefined) yield { first, waiting: waiting.length };
      }
    }
  }

  waitingOf(runId: string): number {
    let waiting = 0;
    for (const { runs } of this.#priorities.values()) waiting += runs.get(runId)?.waiting.length ?? 0;
    return waiting;
  }

  #nextPriority(now: number): PriorityLine<Member> | undefined {
    let next: PriorityLine<Member> | undefined;
    let nextLevel = Number.NEGATIVE_INFINITY;
    for (const line of this.#priorities.values()) {
      if (![...line.runs.values()].some(({ waiting }) => waiting.length > 0)) continue;
      const level = line.priority + Math.floor(Math.max(0, now - line.sinceMs) / AGE_MS);
      // Among equals the lower one goes first: it has waited longer.
      if (level > nextLevel || (level === nextLevel && next !== undefined && line.priority < next.priority)) {
        [next, nextLevel] = [line, level];
      }
    }
    return next;
  }

  #nextRun({ runs }: PriorityLine<Member>): RunLine<Member> | undefined {
    let next: RunLine<Member> | undefined;
    for (const run of runs.values()) {
      if (run.waiting.length > 0 && (next === undefined || this.#goesBefore(run, next))) next = run;
    }
    return next;
  }

  #goesBefore(one: RunLine<Member>, other: RunLine<Member>): boolean {
    if (one.tenant === other.tenant) return isBehindInService(one, other);
    return isBehindInService(this.#tenantOf(one.tenant), this.#tenantOf(other.tenant));
  }

  #priorityOf({ priority = 0 }: Member): PriorityLine<Member> {
    const known = this.#priorities.get(priority);
    if (known !== undefined) return known;
    const line: PriorityLine<Member> = { priority, runs: new Map(), sinceMs: 0 };
    this.#priorities.set(priority, line);
    return line;
  }

  #runOf(member: Member): RunLine<Member> {
    const { runs } = this.#priorityOf(member);
    const { runId, tenantId: tenant = "" } = member;
    const known = runs.get(runId);
    if (known !== undefined) return known;
    const run: RunLine<Member> = { runId, tenant, waiting: [], inFlight: 0, turn: this.#nextTurn() };
    runs.set(runId, run);
    return run;
  }

  #tenantOf(tenant: string): Share {
    const known = this.#tenants.get(tenant);
    if (known !== undefined) return known;
    const share: Share = { inFlight: 0, turn: this.#nextTurn() };
    this.#tenants.set(tenant, share);
    return share;
  }

  #forgetIdle(member: Member): void {
    const { priority = 0, runId } = member;
    const line = this.#priorityOf(member);
    const run = line.runs.get(runId);
    if (run !== undefined && run.waiting.length === 0 && run.inFlight === 0) line.runs.delete(runId);
    if (line.runs.size === 0) this.#priorities.delete(priority);
    if (this.#priorities.size === 0) this.#tenants.clear();
  }

  #nextTurn(): number {
    this.#turns += 1;
    return this.#turns;
  }
}

function isBehindInService(one: Share, other: Share): boolean {
  return one.inFlight !== other.inFlight ? one.inFlight < other.inFlight : one.turn < other.turn;
}
