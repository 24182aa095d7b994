import type { Graph } from "../../../core/graph/graph.ts";
import type { RunHead } from "../../../operations/runs/run-schemas.ts";
import type { RunCaller } from "../caller.ts";
import { type Format, isInteractive } from "../cli-context.ts";
import { printEnvelope } from "../print.ts";
import type { LiveNotice } from "../render/live/live-run.ts";
import { listenForStop, type StopSignals } from "../stop-signals.ts";
import type { Voice } from "../voice.ts";
import { CallGraphs } from "./call-graphs.ts";
import { runExitCode } from "./run-exit-code.ts";
import { openRunPrinter, type RunPrinter } from "./run-printer.ts";
import { tellWhatRemains } from "./tell-what-remains.ts";

export interface ShownRun {
  readonly runId: string;
  readonly format: Format;
  /** What starts it once somebody listens. Absent: it has been started. */
  readonly start?: { readonly graph: Graph; begin(): Promise<unknown> };
  /** See `FollowedRun`. */
  readonly resumes?: boolean;
  /** For programs: what the operation has answered, where the verb only asks for something. Absent: the run at its rest. */
  readonly answered?: unknown;
}

/** Exit code of a command that Ctrl-C has ended. */
export const INTERRUPTED = 130;

/**
 * Shows a run until it ends, or until only a person or an event from outside makes it go on; a person at the terminal is
 * asked. Ctrl-C lays the run down where this process drives it. Returns the exit code.
 */
export async function showRunToRest(
  caller: RunCaller,
  run: ShownRun,
  { voice, wants }: { readonly voice: Voice; readonly wants?: RunHead["status"] },
): Promise<number> {
  const signals = listenForStop();
  const printer = await openRunPrinter(run.format, voice);
  const isText = run.format === "text";
  try {
    if (!(await followToRest(caller, run, { printer, signals }))) {
      await printer.abandon();
      const became = await caller.park(run.runId, signals);
      if (became === "parked" && !isText) printEnvelope(await caller.readRun(run.runId));
      return INTERRUPTED;
    }
    // For people the steps have been shown already: loading the outputs of all would only cost.
    const end = isText ? await caller.readHead(run.runId) : await caller.readRun(run.runId);
    if (isText || run.answered === undefined) await printer.end(end);
    else printEnvelope(run.answered);
    if (isText) await tellWhatRemains(caller, end);
    await caller.leave(signals);
    return end.status === wants ? 0 : runExitCode(end);
  } catch (error) {
    await printer.abandon();
    await caller.abandon();
    throw error;
  } finally {
    signals.close();
  }
}

interface Parts {
  readonly printer: RunPrinter;
  readonly signals: StopSignals;
}

/** False: Ctrl-C came first. */
async function followToRest(caller: RunCaller, run: ShownRun, { printer, signals }: Parts): Promise<boolean> {
  const { runId, format, resumes } = run;
  let { start } = run;
  const graph = start?.graph ?? (await caller.readGraph(runId));
  for (;;) {
    const notices = new CallGraphs(
      (hash) => caller.readGraph(runId, hash),
      (notice) => printer.notice(notice),
    );
    const begin = async () => {
      await start?.begin();
      printer.begin(graph, runId);
    };
    const listen = (notice: LiveNotice) => notices.notice(notice);
    if ((await caller.follow({ runId, begin, resumes, listen }, signals.stop)) === "stopped") return false;
    await notices.idle();
    if (format !== "text" || !isInteractive()) return true;
    if ((await caller.readHead(runId)).status !== "awaiting_approval") return true;
    const { askApprovals } = await import("./ask-approvals.ts");
    const answered = await printer.paused(() => askApprovals(caller, runId, signals.stop));
    if (answered !== "answered") return answered === "later";
    start = undefined;
  }
}
