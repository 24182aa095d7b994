import type { Graph } from "../../core/graph/graph.ts";
import type { AppHost, OpenApplication } from "../../operations/application/application.ts";
import { describeHead, describeRun } from "../../operations/runs/describe-run.ts";
import { readRunHistory } from "../../operations/runs/describe-run-reading.ts";
import { followRun } from "../../operations/runs/follow-run.ts";
import type { RunHead } from "../../operations/runs/run-schemas.ts";
import type { RunRecord, RunStatus } from "../../ports/journal.ts";
import { CallGraphs } from "./call-graphs.ts";
import { type Format, isInteractive } from "./cli-context.ts";
import { printEnvelope, tell } from "./print.ts";
import { runExitCode } from "./run-exit-code.ts";
import { openRunPrinter, type RunPrinter } from "./run-printer.ts";
import { shortId } from "./short-id.ts";
import { listenForStop, type StopSignals } from "./stop-signals.ts";
import { tellWhatRemains } from "./tell-what-remains.ts";
import type { Voice } from "./voice.ts";

export interface DrivenRun {
  readonly runId: string;
  readonly graph: Graph;
  readonly format: Format;
  /** Starts the run, or makes it go on. */
  begin(host: AppHost): Promise<RunRecord>;
  /** For programs: what the operation answers, where the verb only asks for something. Absent: the run at its rest. */
  answer?(): object;
}

export interface DriveEnd {
  readonly exitCode: number;
  readonly status: RunStatus | "laid down";
}

const INTERRUPTED = 130;

/** Shows a run until it ends, stops at a question, or is laid down with Ctrl-C. Leaves the application. */
export async function driveRun(app: OpenApplication, run: DrivenRun, voice: Voice): Promise<DriveEnd> {
  const signals = listenForStop();
  const printer = await openRunPrinter(run.format, voice);
  try {
    const record = await followToRest(app, run, { printer, signals });
    if (record === undefined) {
      await layDown(app, run, { printer, signals });
      return { exitCode: INTERRUPTED, status: "laid down" };
    }
    const description = await describe(app, record, run.format);
    if (run.format === "text" || run.answer === undefined) await printer.end(description);
    else printEnvelope(run.answer());
    if (run.format === "text") await tellWhatRemains(app, description);
    await app.leave(signals.stop, signals.force);
    return { exitCode: runExitCode(description), status: description.status };
  } catch (error) {
    await printer.abandon();
    // Whatever else is under way here stops in good order, as far as the disk still allows.
    await app.park(AbortSignal.abort()).catch(() => undefined);
    throw error;
  } finally {
    signals.close();
  }
}

/** For people the steps have been shown already; loading the outputs of all would only cost. */
async function describe(app: OpenApplication, record: RunRecord, format: Format): Promise<RunHead> {
  const records = await app.records();
  return format === "text" ? describeHead(await readRunHistory(records, record)) : describeRun(records, record);
}

interface Parts {
  readonly printer: RunPrinter;
  readonly signals: StopSignals;
}

/** Undefined: Ctrl-C came first. */
async function followToRest(app: OpenApplication, run: DrivenRun, parts: Parts): Promise<RunRecord | undefined> {
  const { printer, signals } = parts;
  const notices = new CallGraphs(app, (notice) => printer.notice(notice));
  let begin = (host: AppHost) => run.begin(host);
  for (;;) {
    const followed = await followRun(
      app,
      {
        runId: run.runId,
        begin: async (host) => printer.begin(run.graph, await begin(host)),
        listen: (notice) => notices.notice(notice),
      },
      signals.stop,
    );
    if (followed.is === "stopped") return undefined;
    await notices.idle();
    const { record } = followed;
    if (record.status !== "awaiting_approval" || run.format !== "text" || !isInteractive()) return record;
    const { askApprovals } = await import("./ask-approvals.ts");
    const answered = await printer.paused(() => askApprovals(app, record, signals.stop));
    if (answered === "stopped") return undefined;
    if (answered === "later") return record;
    begin = async () => record;
  }
}

async function layDown(app: OpenApplication, { runId, format }: DrivenRun, { printer, signals }: Parts): Promise<void> {
  const host = await app.host();
  await printer.abandon();
  if (host.role === "guest") {
    tell(`The run goes on in process ${host.ownerPid}. To end it: pawl runs cancel ${shortId(runId)}`);
    await app.park(signals.force);
    return;
  }
  tell("Laying the run down ... (Ctrl-C again to wait for nothing)");
  await app.park(signals.force, runId);
  tell(`The run is laid down. To go on with it: pawl runs resume ${shortId(runId)}`);
  if (format !== "text") await printer.printWhereItStands(app, runId);
}
