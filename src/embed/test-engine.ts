import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { SystemClock } from "../app/system-clock.ts";
import { durationOf } from "../dialects/typescript/steps.ts";
import type { Duration } from "../dialects/typescript/types.ts";
import { UNFINISHED_STATUSES } from "../ports/journal.ts";
import type { PawlOptions, RunFailed, TestPawl } from "./api.ts";
import { Engine, openData } from "./engine.ts";

/** How long work that goes on is waited for before time moves on: it may be work that a time-out is to end. */
const WORK_MS = 1_000;

/** An engine on a folder of its own, which goes with it, and a clock that the test moves. */
class TestEngine extends Engine implements TestPawl {
  readonly #clock: SystemClock;

  constructor(clock: SystemClock, ...[parts, options]: ConstructorParameters<typeof Engine>) {
    super(parts, options);
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  async advance(duration: Duration): Promise<void> {
    const clock = this.#clock;
    const target = clock.now() + (durationOf(duration) ?? 0);
    await this.#settle(undefined);
    for (let at = clock.nextAlarm; at !== undefined && at <= target; at = clock.nextAlarm) {
      await this.#settle(clock.moveTo(at));
    }
    await this.#settle(clock.moveTo(target));
  }

  /** Resolves when what was woken has begun, and each run rests. */
  async #settle(woken: Promise<void> | undefined): Promise<void> {
    const patience = new AbortController();
    const late = setTimeout(WORK_MS, undefined, { signal: patience.signal }).catch(() => undefined);
    await Promise.race([this.#rest(woken), late]);
    patience.abort();
  }

  async #rest(woken: Promise<void> | undefined): Promise<void> {
    await woken;
    const { app, host } = this.parts;
    const { journal } = await app.records();
    const runs = await journal.listRuns({ status: UNFINISHED_STATUSES, limit: 10_000 });
    await Promise.all(runs.map(({ id }) => host.settled(id)));
  }
}

export async function openTestEngine(options: PawlOptions, Failed: typeof RunFailed): Promise<TestPawl> {
  const folder = await mkdtemp(join(tmpdir(), "pawl-test-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  const clock = new SystemClock();
  try {
    const { parts, leave } = await openData({ folder, data: join(folder, "data"), ...options }, clock);
    const leaveNothing = (drainMs: number) => leave(drainMs).finally(remove);
    return new TestEngine(clock, parts, { agent: options.agent, Failed, leave: leaveNothing });
  } catch (error) {
    await remove();
    throw error;
  }
}
