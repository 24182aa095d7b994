import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SystemClock } from "../app/system-clock.ts";
import { durationOf } from "../dialects/typescript/steps.ts";
import type { Duration } from "../dialects/typescript/types.ts";
import { withPatience } from "../operations/tests/with-patience.ts";
import { UNFINISHED_STATUSES } from "../ports/journal.ts";
import type { PawlOptions, RunFailed, TestPawl } from "./api.ts";
import { Engine, openData } from "./engine.ts";

/** An engine on a folder of its own, which goes with it, and a clock that the test moves. */
class TestEngine extends Engine implements TestPawl {
  now(): number {
    return this.parts.app.clock.now();
  }

  async advance(duration: Duration): Promise<void> {
    const { clock } = this.parts.app;
    const target = clock.now() + (durationOf(duration) ?? 0);
    await this.#settle(undefined);
    for (let at = clock.nextAlarm; at !== undefined && at <= target; at = clock.nextAlarm) {
      await this.#settle(clock.moveTo(at));
    }
    await this.#settle(clock.moveTo(target));
  }

  /** Resolves when what was woken has begun, and each run rests. */
  async #settle(woken: Promise<void> | undefined): Promise<void> {
    await withPatience(this.#rest(woken));
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
  try {
    const { parts, leave } = await openData({ folder, data: join(folder, "data"), ...options }, new SystemClock());
    const leaveNothing = (drainMs: number) => leave(drainMs).finally(remove);
    return new TestEngine(parts, { agent: options.agent, Failed, leave: leaveNothing });
  } catch (error) {
    await remove();
    throw error;
  }
}
