import { dataOf, type RunStreamEvent } from "../../../client/pawl-client.ts";
import type { RunDescription } from "../../../operations/describe-run.ts";
import { type CommonOptions, type Format, formatOf, paintFor } from "../cli-context.ts";
import { print, printEnvelope, tell } from "../print.ts";
import { formatDuration } from "../render/format-duration.ts";
import { formatUsd } from "../render/format-usd.ts";
import { renderError } from "../render/render-error.ts";
import { sanitize } from "../render/sanitize.ts";
import { runExitCode } from "../run-exit-code.ts";
import { shortId } from "../short-id.ts";
import { listenForStop } from "../stop-signals.ts";
import { given, type RemoteParts } from "./remote-parts.ts";

const INTERRUPTED = 130;

/** Shows a run of a server until it ends or waits for a person. Ctrl-C leaves it to the server. */
export async function followRemote({ client }: RemoteParts, runId: string, options: CommonOptions): Promise<number> {
  const format = formatOf(options);
  const signals = listenForStop();
  if (format === "text") tell(`run ${runId} at ${client.url}`);
  try {
    for await (const event of client.followRun(runId, { signal: signals.stop })) {
      tellEvent(event, format);
      if (event.event === "status" && event.data.status === "awaiting_approval") break;
    }
  } catch (error) {
    if (!signals.stop.aborted) throw error;
    tell(`The run goes on at ${client.url}. Follow it again: pawl runs watch ${shortId(runId)}`);
    return INTERRUPTED;
  } finally {
    signals.close();
  }
  const run = await dataOf(client.api.GET("/runs/{id}", { params: { path: { id: runId } } }));
  showEnd(run, format);
  return runExitCode(run);
}

function tellEvent(event: RunStreamEvent, format: Format): void {
  if (format === "lines") print(JSON.stringify(event));
  if (format !== "text" || event.event !== "step") return;
  const { path, status, attempt, cost_usd: cost, duration_seconds: seconds, error } = event.data;
  if (status === "pending") return;
  const facts = given({
    attempt: attempt > 1 ? `attempt ${attempt}` : undefined,
    duration: seconds === null ? undefined : formatDuration(seconds * 1_000),
    cost: cost === null || cost === 0 ? undefined : formatUsd(cost),
    error: error === undefined ? undefined : sanitize(`${error.code} ${error.message}`),
  });
  tell(["", status.padEnd(9), sanitize(path), ...Object.values(facts)].join("  "));
}

function showEnd(
  run: Pick<RunDescription, "run_id" | "status" | "outputs" | "error" | "completed_at">,
  format: Format,
): void {
  if (format !== "text") return printEnvelope(run);
  if (run.completed_at !== null) print(JSON.stringify(run.outputs, null, 2));
  if (run.error !== null) tell(renderError(run.error, paintFor(process.stderr)));
  if (run.status === "awaiting_approval") {
    tell("The run waits for an answer. What it asks: pawl approvals ls");
    tell(`  pawl approve ${shortId(run.run_id)}`);
    tell(`  pawl reject ${shortId(run.run_id)}`);
  }
}
