import { PawlError } from "../../../core/errors/pawl-error.ts";
import { readRequestBody } from "../../../operations/requests/read-request-file.ts";
import { formatOf } from "../cli-context.ts";
import type { RunOptions } from "../commands/run.ts";
import { runExitCode } from "../follow/run-exit-code.ts";
import { openRunPrinter } from "../follow/run-printer.ts";
import type { RemoteParts } from "./remote-parts.ts";

/** `pawl run --request`: a server answers such a request when its run has ended, so that there is nothing to follow. */
export async function runRequest(
  { client, voice }: RemoteParts,
  { workflow, file }: { readonly workflow: string; readonly file: string },
  options: RunOptions,
): Promise<number> {
  const beside = BESIDE.filter(([name]) => options[name] !== undefined).map(([, flag]) => flag);
  if (beside.length > 0) {
    throw new PawlError("USAGE", {
      message: `\`--request\` is all that a server is sent: it takes no ${beside.join(", ")} beside it.`,
      remedy: "Leave one of them out.",
    });
  }
  const request = await readRequestBody({ file, folder: process.cwd(), workflowId: workflow });
  const response = await client.request("/execute", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(request),
  });
  const runId = response.headers.get("x-run-id") ?? "";
  const run = await client.call("GET /runs/{id}", { id: runId });
  const printer = await openRunPrinter(formatOf(options), voice);
  await printer.end(run);
  return runExitCode(run);
}

const BESIDE = [
  ["i", "-i"],
  ["input", "--input"],
  ["agent", "--agent"],
  ["maxCost", "--max-cost"],
  ["maxTokens", "--max-tokens"],
  ["maxSteps", "--max-steps"],
  ["maxSeconds", "--max-seconds"],
  ["onExceeded", "--on-exceeded"],
  ["detach", "--detach"],
] as const;
