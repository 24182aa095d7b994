import { join } from "node:path";
import { next } from "../../src/core/interpreter/next.ts";
import { pendingCommands, recoveryEvents } from "../../src/core/interpreter/recovery.ts";
import { rebuildRun } from "../../src/hosts/session/rebuild-run.ts";
import type { Journal } from "../../src/ports/journal.ts";
import { openSqliteJournal } from "../../src/storage/sqlite/sqlite-journal.ts";
import { type Comparison, median } from "../support/compare.ts";
import { fanOut } from "../support/no-op-host.ts";
import { openWorkbench } from "../support/workbench.ts";

const STEPS = 10_000;
const TARGET_MS = 100;

/** From opening the journal of a run with 10,000 finished steps to its next command. */
export async function benchRecovery(rounds: number): Promise<Comparison[]> {
  const results: Comparison[] = [];
  for (const outputBytes of [200, 20_000]) {
    const oursMs = await measureRecovery({ steps: STEPS, outputBytes, rounds });
    const name = `Recovery, 10,000 steps with outputs of ${outputBytes} B`;
    results.push({ name, floorName: "100 ms", floorMs: TARGET_MS, oursMs, ratio: oursMs / TARGET_MS, target: 1 });
  }
  return results;
}

interface Measured {
  readonly steps: number;
  readonly outputBytes: number;
  readonly rounds: number;
}

/** The median, in ms. */
export async function measureRecovery({ steps, outputBytes, rounds }: Measured): Promise<number> {
  const bench = await openWorkbench({ outputBytes });
  const runId = await bench.run(fanOut(steps, 500));
  await bench.journal.close();
  const times: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const startedAt = performance.now();
    const journal = openSqliteJournal({ path: join(bench.folder, "pawl.db"), durability: "power" });
    await recoverOnce(journal, runId, steps);
    if (round > 0) times.push(performance.now() - startedAt);
    await journal.close();
  }
  return median(times);
}

/** Reads the run and decides what comes next. */
export async function recoverOnce(journal: Journal, runId: string, steps: number): Promise<void> {
  const record = await journal.findRun(runId);
  if (record === undefined || record === "ambiguous") throw new Error("The run is gone.");
  // Without the last two events (the join and the end) the run is where a crash would have left it.
  const { state } = await rebuildRun(withoutTail(journal, steps + 1), record, new Map());
  const events = recoveryEvents(state, {
    at: Date.now(),
    diedAt: Date.now(),
    runsElsewhere: () => false,
    reservesCalls: () => false,
  });
  const commands = [...pendingCommands(state), ...events.flatMap((event) => next(state, event).commands)];
  if (!commands.some(({ type }) => type === "startTask")) throw new Error("Recovery wished for nothing.");
}

function withoutTail(journal: Journal, length: number): Journal {
  return new Proxy(journal, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (name !== "readEvents") return typeof member === "function" ? member.bind(target) : member;
      return async (...args: Parameters<Journal["readEvents"]>) =>
        (await target.readEvents(...args)).filter(({ seq }) => seq <= length);
    },
  });
}
