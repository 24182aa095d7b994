import { dataOf, type PawlClient } from "../../../client/pawl-client.ts";
import { type CommonOptions, formatOf } from "../cli-context.ts";
import { tell } from "../print.ts";
import { runExitCode } from "../run-exit-code.ts";
import { openRunPrinter, type RunPrinter } from "../run-printer.ts";
import { shortId } from "../short-id.ts";
import { listenForStop } from "../stop-signals.ts";
import { tellApprovals, tellEvents } from "../tell-what-remains.ts";
import { RemoteHistory } from "./remote-history.ts";
import type { RemoteParts } from "./remote-parts.ts";

const INTERRUPTED = 130;

/**
 * Shows a run of a server, as one of this machine, until it ends or only a person or an event is left. A server that starts
 * again is followed on. Ctrl-C leaves the run to the server.
 */
export async function followRemote(
  { client, voice }: RemoteParts,
  runId: string,
  options: CommonOptions,
): Promise<number> {
  const signals = listenForStop();
  const printer = await openRunPrinter(formatOf(options), voice);
  const params = { path: { id: runId } };
  try {
    const { workflow_name: workflow } = await dataOf(
      client.api.GET("/runs/{id}", { params: { ...params, query: { outputs: false, prompts: false } } }),
    );
    const history = await RemoteHistory.open(client, runId);
    printer.begin(history.graph, { id: runId, workflow });
    const lost = () => voice.say(`The connection to ${client.url} is lost. Trying again ...`);
    await showEvents(client, { runId, history, printer }, { signal: signals.stop, lost });
    const run = await dataOf(client.api.GET("/runs/{id}", { params }));
    await printer.end(run);
    if (formatOf(options) === "text" && run.completed_at === null) await tellWhatRemains(client, runId, history);
    return runExitCode(run);
  } catch (error) {
    await printer.abandon();
    if (!signals.stop.aborted) throw error;
    tell(`The run goes on at ${client.url}. Follow it again: pawl runs watch ${shortId(runId)}`);
    return INTERRUPTED;
  } finally {
    signals.close();
  }
}

interface Shown {
  readonly runId: string;
  readonly history: RemoteHistory;
  readonly printer: Pick<RunPrinter, "notice">;
}

async function showEvents(
  client: PawlClient,
  { runId, history, printer }: Shown,
  following: { readonly signal: AbortSignal; lost(): void },
): Promise<void> {
  for await (const told of client.followRun(runId, { events: true, ...following })) {
    if (told.event === "event") printer.notice(await history.apply(told));
    // How it is now: everything that came before has been told.
    if (told.event === "status" && history.isAtRest) return;
  }
}

async function tellWhatRemains(client: PawlClient, runId: string, { awaited }: RemoteHistory): Promise<void> {
  const { items } = await dataOf(client.api.GET("/approvals"));
  const approvals = items.filter(({ run_id }) => run_id === runId);
  tellApprovals(runId, approvals);
  if (approvals.length === 0) tellEvents(runId, awaited);
}
