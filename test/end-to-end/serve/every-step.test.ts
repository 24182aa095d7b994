import { expect, test } from "vitest";
import { temporaryFolder } from "../../contracts/temporary-folder.ts";
import { optionsFor, readApplicationFile } from "../../faults/every-step/every-step-process.ts";
import { SIGNAL } from "../../faults/every-step/send-go.ts";
import { type RunningServer, startServer } from "../support/server.ts";

interface CalledTool {
  readonly tool: string;
  readonly count: number;
  readonly total_duration_ms: number;
  readonly token_usage?: { readonly prompt: number; readonly completion: number };
}

interface Response {
  readonly requestId: string;
  readonly resultType: string;
  readonly data: unknown;
  readonly metrics: { readonly execution_time_ms: number; readonly mcp_calls: readonly CalledTool[] };
}

/** What the one run waits for. False: there is no run yet. */
async function sendGo({ url }: RunningServer): Promise<boolean> {
  const { data } = (await (await fetch(`${url}/runs`)).json()) as {
    readonly data: { readonly items: readonly { readonly run_id: string }[] };
  };
  const sent = await fetch(`${url}/runs/${data.items[0]?.run_id ?? "none"}/signals`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(SIGNAL),
  });
  return sent.ok;
}

test("`POST /execute` answers for a workflow of every kind of step as `pawl run` does, with what it has called", async () => {
  const data = temporaryFolder();
  const server = await startServer(["--data", data], optionsFor(data));
  const body = JSON.stringify({
    requestId: "r-1",
    requestData: { source: "internal", payload: JSON.parse(readApplicationFile("input.json")) },
    context: { workflowInfo: { workflowId: "every_step" } },
  });
  const answering = fetch(`${server.url}/execute`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  await expect.poll(() => sendGo(server)).toBe(true);
  const { metrics, ...answer } = (await (await answering).json()) as Response;

  expect(answer).toEqual({ requestId: "r-1", ...JSON.parse(readApplicationFile("output.json")) });
  expect(metrics.execution_time_ms).toBeGreaterThan(0);
  expect(metrics.mcp_calls.filter(({ total_duration_ms: ms }) => !(ms >= 0))).toEqual([]);
  expect(Object.fromEntries(metrics.mcp_calls.map(({ tool, count }) => [tool, count]))).toEqual({
    // The two turns of `compose`, and `rhyme`.
    "core.llm.generate": 3,
    "core.state.setRuntimeValue": 1,
    "core.state.getRuntimeValue": 1,
    "community.database.simple_kv.set": 1,
    "community.database.simple_kv.get": 1,
    append: 1,
    "ledger.append": 11,
    "ledger.flaky": 3,
    "ledger.refuse": 1,
  });
  const asked = metrics.mcp_calls.find(({ tool }) => tool === "core.llm.generate");
  expect(asked?.token_usage).toEqual({ prompt: expect.any(Number), completion: expect.any(Number) });
});
