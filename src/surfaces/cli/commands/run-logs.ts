import { writeExact } from "../../../core/exact-json.ts";
import { readRunLogs } from "../../../operations/runs/runs.ts";
import type { RunCaller } from "../caller.ts";
import type { CommonOptions } from "../cli-context.ts";
import { INTERRUPTED } from "../follow/show-run-to-rest.ts";
import { print } from "../print.ts";
import type { LiveNotice } from "../render/live/live-run.ts";
import { withStopSignals } from "../stop-signals.ts";
import { isDriven } from "./runs.ts";

const PAGE = 50;

export interface LogsOptions extends CommonOptions {
  readonly follow?: true;
}

/** `pawl runs logs`: what executors emitted, one JSON object a line; with `--follow` also what they emit from now on. */
export async function showLogs(
  caller: RunCaller,
  { id, step }: { readonly id: string; readonly step: string | undefined },
  { follow }: LogsOptions,
): Promise<number> {
  const { run_id: runId, completed_at: ended } = await caller.readHead(id);
  const goesOn = follow === true && ended === null;
  const logs = new Logs(caller, runId, step);
  await logs.printStored({ isComplete: !goesOn });
  if (!goesOn || !(await isDriven(caller, runId))) return 0;
  return withStopSignals(async (signals) => {
    const listen = (notice: LiveNotice) => {
      if (notice.type === "progress") logs.print(notice, [notice.event]);
    };
    const rest = await caller.follow({ runId, listen }, signals.stop);
    // Who reads slowly is told less, and all of it is on record.
    if (rest === "at rest") await logs.printStored({ isComplete: false });
    await caller.leave(signals);
    return rest === "stopped" ? INTERRUPTED : 0;
  });
}

interface Attempt {
  readonly path: string;
  readonly attempt: number;
}

/** Prints the events of each attempt once, as they come or from the record. */
class Logs {
  readonly #caller: RunCaller;
  readonly #runId: string;
  readonly #step: string | undefined;
  readonly #printed = new Map<string, number>();
  /** Behind the last log that was read. */
  #cursor: string | undefined;

  constructor(caller: RunCaller, runId: string, step: string | undefined) {
    this.#caller = caller;
    this.#runId = runId;
    this.#step = step;
  }

  /** `isComplete`: a step that has not begun is refused, as it will not have logs. */
  async printStored({ isComplete }: { readonly isComplete: boolean }): Promise<void> {
    for (let isLast = false; !isLast; ) {
      const wanted = { id: this.#runId, step: isComplete ? this.#step : undefined, limit: PAGE, cursor: this.#cursor };
      const { items, next_cursor: next } = await this.#caller.call(readRunLogs, wanted);
      for (const { seq, events, ...attempt } of items) {
        if (isComplete) printEvents(attempt, events);
        else this.print(attempt, events.slice(this.#printed.get(keyOf(attempt)) ?? 0));
        this.#cursor = String(seq);
      }
      isLast = next === null;
    }
  }

  print(attempt: Attempt, events: readonly unknown[]): void {
    this.#printed.set(keyOf(attempt), (this.#printed.get(keyOf(attempt)) ?? 0) + events.length);
    if (!this.#isWanted(attempt)) return;
    printEvents(attempt, events);
  }

  #isWanted({ path }: Attempt): boolean {
    const step = this.#step;
    return step === undefined || path === step || path.startsWith(`${step}/`) || path.startsWith(`${step}[`);
  }
}

function printEvents({ path, attempt }: Attempt, events: readonly unknown[]): void {
  for (const event of events) print(writeExact({ path, attempt, event }));
}

function keyOf({ path, attempt }: Attempt): string {
  return `${path} ${attempt}`;
}
