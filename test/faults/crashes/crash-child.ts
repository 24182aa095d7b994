import { isJsonObject } from "../../../src/core/json.ts";
import type { Executor } from "../../../src/ports/executor.ts";
import { holdsSteps } from "../../../src/ports/journal.ts";
import { openOwner } from "../data-directory.ts";
import { succeed } from "../world.ts";
import { type CrashRuns, toGraphs } from "./crash-runs.ts";
import { FastClock } from "./fast-clock.ts";

/**
 * A child process of the crash tests: takes up what is in a data directory or starts it, and says on stdout when work begins
 * and how the runs rest. A step works for so long and succeeds, or takes the process down.
 */
const [dataDir = "", text = "{}", seenAt = ""] = process.argv.slice(2);
const wanted = JSON.parse(text) as CrashRuns;
const clock = new FastClock(wanted.timesFaster ?? 1);
let isTold = false;

const executor: Executor = {
  recordsInput: false,
  run: ({ path, input }) =>
    new Promise((resolve) => {
      if (!isTold) process.stdout.write("working\n");
      isTold = true;
      const { ms = 0, kills = false } = isJsonObject(input) ? input : {};
      clock.wakeAt(clock.now() + Number(ms), () => {
        if (kills === true) process.kill(process.pid, "SIGKILL");
        else resolve(succeed(path));
      });
    }),
};

const owner = openOwner(dataDir, {
  durability: "process",
  host: {
    clock,
    findExecutor: async () => executor,
    ...(seenAt === "" ? {} : { previousSeenAt: clock.at(Number(seenAt)) }),
  },
});
await owner.host.recover();
const graphs = toGraphs(wanted);
const ids = graphs.map((_, n) => `run-${n}`);
for (const [n, graph] of graphs.entries()) {
  const runId = `run-${n}`;
  if ((await owner.journal.findRun(runId)) !== undefined) continue;
  await owner.host.startRun({ runId, definition: { text: graph.name, graph }, input: {} });
}
const records = await Promise.all(ids.map((id) => owner.host.settled(id)));
const ends = records.map((record) => (holdsSteps(record) ? "held" : record.status));
process.stdout.write(`${JSON.stringify({ ends })}\n`);
await owner.close();
process.exit(0);
