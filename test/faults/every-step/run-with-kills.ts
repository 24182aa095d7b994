import { setTimeout } from "node:timers/promises";
import type { Event } from "../../../src/core/history/events.ts";
import { findDescendants, isAlive } from "../../../src/executors/sandbox/kernel/processes.ts";
import type { RunningPawl } from "../../end-to-end/support/pawl.ts";
import { waitUntil } from "../../sandbox/marked-processes.ts";
import { readLedger, resumeAll, startRun } from "./every-step-process.ts";
import { JournalView } from "./journal-view.ts";
import { sendGo } from "./send-go.ts";

/** When the process is to die: once the journal has come as far as this, and a little later. */
export interface KillPoint {
  hasCome(events: readonly Event[]): boolean;
  readonly thenMs: number;
}

/** How much there was when a process had died: what succeeded before is not done again. */
export interface Death {
  readonly events: number;
  readonly calls: number;
}

const POLL_MS = 2;
/** After a third death with the same attempt in flight the next process would pause. */
const MAX_DEATHS_OF_ATTEMPT = 2;
const MAX_PROCESSES = 100;

/** Starts the workflow and goes on with it in ever new processes until it has ended. No process leaves others behind. */
export async function runWithKills(dataDir: string, points: readonly KillPoint[]): Promise<readonly Death[]> {
  const deaths: Death[] = [];
  for (let started = 0; started < MAX_PROCESSES; started += 1) {
    const pawl = started === 0 ? startRun(dataDir) : resumeAll(dataDir);
    const view = new JournalView(dataDir);
    const wasKilled = await accompany(pawl, view, { dataDir, point: points[deaths.length] });
    const { code, stderr } = await pawl.ended;
    if (!wasKilled && code !== 0) throw new Error(`The process ended with ${code}:\n${stderr}`);
    if (wasKilled) deaths.push({ events: (await view.events()).length, calls: readLedger(dataDir).length });
    const run = await view.run();
    await view.close();
    if (run?.status === "completed") return deaths;
  }
  throw new Error("The run does not end.");
}

interface Company {
  readonly dataDir: string;
  readonly point: KillPoint | undefined;
}

/** Until the process has ended. True: it was killed. */
async function accompany(pawl: RunningPawl, view: JournalView, { dataDir, point }: Company): Promise<boolean> {
  const end = watchEnd(pawl);
  const children = new Set<number>();
  let known = 0;
  let wasKilled = false;
  while (!end.hasCome() && !wasKilled) {
    const events = await view.events();
    if (events.length > known) for (const pid of findDescendants(pawl.pid)) children.add(pid);
    known = events.length;
    const isDeaf = known > 0 && !events.some(({ type }) => type === "signalReceived");
    if (isDeaf) await sendGo(dataDir, (await view.run())?.id ?? "");
    if (point?.hasCome(events) === true && mayDie(events)) {
      await end.within(point.thenMs);
      // It stands still while its children are counted, and cannot start others.
      pawl.kill("SIGSTOP");
      wasKilled = !end.hasCome() && mayDie(await view.events());
      if (!wasKilled) pawl.kill("SIGCONT");
    } else await end.within(POLL_MS);
  }
  for (const pid of findDescendants(pawl.pid)) children.add(pid);
  // Nobody else has the journal open while it is left and found again.
  await view.close();
  if (wasKilled) pawl.kill("SIGKILL");
  await end.isHere;
  await waitUntil(`none of ${[...children].join(", ")} lives`, () => ![...children].some(isAlive));
  return wasKilled;
}

function watchEnd(pawl: RunningPawl) {
  let hasEnded = false;
  const isHere = pawl.ended.then(() => {
    hasEnded = true;
  });
  return {
    isHere,
    hasCome: () => hasEnded,
    within: (ms: number) => Promise.race([isHere, setTimeout(ms)]),
  };
}

function mayDie(events: readonly Event[]): boolean {
  const deaths = new Map<string, number>();
  for (const event of events) {
    if (event.type === "stepInterrupted") deaths.set(event.path, (deaths.get(event.path) ?? 0) + 1);
    if (event.type === "stepSucceeded" || event.type === "stepFailed") deaths.delete(event.path);
  }
  return ![...deaths.values()].some((count) => count >= MAX_DEATHS_OF_ATTEMPT);
}
