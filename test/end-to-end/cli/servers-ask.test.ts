import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { startFakeModelServer } from "../../fakes/model-server/fake-model-server.ts";
import { application } from "../support/application.ts";
import { pawl, startPawl } from "../support/pawl.ts";
import { type RunningServer, startServer } from "../support/server.ts";

const FAKES = fileURLToPath(new URL("../../fakes/mcp-server/", import.meta.url));
const SERVERS = {
  "2025": { command: "python3", args: [join(FAKES, "old_server.py")] },
  "2026-07-28": { command: process.execPath, args: [join(FAKES, "main.ts")], protocol: "2026-07-28" },
};

/** A workflow whose only step books seats, of which the server asks how many. */
function bookingApplication(server: keyof typeof SERVERS, more = "") {
  const log = join(mkdtempSync(join(tmpdir(), "pawl-log-")), "log");
  onTestFinished(() => rmSync(dirname(log), { recursive: true }));
  const folder = application({
    ".mcp.json": JSON.stringify({ mcpServers: { it: SERVERS[server] } }),
    "workflows/flow.yaml": `name: flow\nsteps:\n  - {id: book, type: mcp, tool: it.book, params: {log: "${log}"}${more}}\n`,
  });
  const read = () => (existsSync(log) ? readFileSync(log, "utf8") : "").split("\n");
  return { folder, booked: () => read().filter((line) => line.startsWith("booked")) };
}

async function post(url: string, body: object) {
  return await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

async function killHard(server: RunningServer): Promise<void> {
  server.kill("SIGKILL");
  await server.ended;
}

describe.each(["2025", "2026-07-28"] as const)("a tool of a server of %s that asks a person", (era) => {
  test("waits, is killed (-9), is answered from the command line, and books once", async () => {
    const { folder, booked } = bookingApplication(era);
    const options = { cwd: folder };
    const first = await startServer([], options);
    const started = await post(`${first.url}/workflows/run`, { workflow: "flow" });
    expect(started.status).toBeLessThan(300);
    const approvals = async () => JSON.parse((await pawl(["approvals", "ls", "--json"], options)).stdout).data.items;
    await expect
      .poll(approvals, { timeout: 20_000, interval: 300 })
      .toMatchObject([
        { message: 'The MCP server "it" asks, for its tool "book": How many seats?', shown: { row: "front" } },
      ]);
    const [{ run_id: run }] = await approvals();
    await killHard(first);

    const refused = await pawl(["approve", run], options);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("must have required property 'seats'")]);
    const shown = await pawl(["approvals", "ls"], options);
    expect(shown.stdout).toContain('"seats":{"type":"integer"');
    expect((await pawl(["approve", run, "--edit", '{"seats": 2}'], options)).code).toBe(0);
    await pawl(["runs", "resume", "--all"], options);
    const { data } = JSON.parse((await pawl(["runs", "show", run, "--json"], options)).stdout);
    expect(data).toMatchObject({ status: "completed", steps: [{ attempt: 1 }] });
    expect(booked()).toHaveLength(1);
    expect(booked()[0]).toMatch(/"seats": ?2/);
  });
});

describe.each(["legacy", "2026-07-28"])("a tool of a server (%s) that has a model asked", (protocol) => {
  async function summingApplication(more = "", steps = "") {
    const model = await startFakeModelServer({ replies: [{ do: "say", text: "All is well." }] });
    onTestFinished(() => model.close());
    const holds = join(mkdtempSync(join(tmpdir(), "pawl-log-")), "holds");
    onTestFinished(() => rmSync(dirname(holds), { recursive: true }));
    const it = { ...SERVERS["2026-07-28"], protocol, sampling: { model: "fake:haiku", max_tokens: 50 } };
    const providers = { fake: { kind: "anthropic", base_url: model.url, api_key: "any" } };
    const folder = application({
      ".mcp.json": JSON.stringify({ mcpServers: { it } }),
      "pawl.yaml": JSON.stringify({ models: { providers, prices: { "fake:haiku": { input: 1000, output: 1000 } } } }),
      "workflows/flow.yaml": `name: flow\n${more}steps:\n  - {id: sum, type: mcp, tool: it.sum_up, params: {holds: "${holds}"}}\n${steps}`,
    });
    return { options: { cwd: folder }, model, holds };
  }

  test("is killed (-9) with it after the answer, and pays once", async () => {
    const { options, model, holds } = await summingApplication();
    writeFileSync(holds, "");
    const host = startPawl(["run", "flow", "--json"], options);
    await expect.poll(() => readFileSync(holds, "utf8"), { timeout: 20_000 }).toBe("told\n");
    host.kill("SIGKILL");
    await host.ended;
    rmSync(holds);
    await pawl(["runs", "resume", "--all"], options);
    const [{ run_id: run }] = JSON.parse((await pawl(["runs", "ls", "--json"], options)).stdout).data.items;
    const { data } = JSON.parse((await pawl(["runs", "show", run, "--json"], options)).stdout);
    expect(data).toMatchObject({ status: "completed", total_cost_usd: 0.03 });
    expect(model.requests).toHaveLength(1);
  });

  test("is answered in a run that is made up, as a tool is that asks a model, without one", async () => {
    const { options, model } = await summingApplication(
      "",
      "  - {id: ask, type: mcp, tool: core.llm.generate, params: {prompt: Hello, model: fake:haiku}}\n",
    );
    const { code, stdout } = await pawl(["run", "flow", "--json", "--agent", "simulated"], options);
    expect([code, JSON.parse(stdout).data.status]).toEqual([0, "completed"]);
    expect(model.requests).toEqual([]);
  });

  test("ends the run where its budget has nothing for that, and asks no model", async () => {
    const { options, model } = await summingApplication("limits: { max_cost_usd: 0.01 }\n");
    const { code, stdout } = await pawl(["run", "flow", "--json"], options);
    expect([code, JSON.parse(stdout).data]).toEqual([7, expect.objectContaining({ status: "budget_exceeded" })]);
    expect(model.requests).toEqual([]);
  });
});

test("a call of 2025 that may run once is not begun again after a kill", async () => {
  const { folder, booked } = bookingApplication("2025", ", at_most_once: true");
  const options = { cwd: folder };
  const asked = await pawl(["run", "flow", "--json"], options);
  expect(asked.code).toBe(6);
  const [{ run_id: run }] = JSON.parse((await pawl(["approvals", "ls", "--json"], options)).stdout).data.items;
  await pawl(["approve", run, "--edit", '{"seats": 2}'], options);
  await pawl(["runs", "resume", "--all"], options);
  const { data } = JSON.parse((await pawl(["runs", "show", run, "--json"], options)).stdout);
  expect(data).toMatchObject({ status: "failed", error: { code: "INTERRUPTED" } });
  expect(booked()).toEqual([]);
});

test("while the process lives the call waits, and goes on with the answer", async () => {
  const { folder, booked } = bookingApplication("2025", ", at_most_once: true");
  const server = await startServer([], { cwd: folder });
  await post(`${server.url}/workflows/run`, { workflow: "flow" });
  const open = async () =>
    (await (await fetch(`${server.url}/approvals`)).json()) as {
      readonly data: { readonly items: readonly { readonly approval_id: string; readonly run_id: string }[] };
    };
  await expect.poll(async () => (await open()).data.items.length, { timeout: 20_000 }).toBe(1);
  const [{ approval_id: id = "", run_id: run = "" } = {}] = (await open()).data.items;
  const answered = await post(`${server.url}/approvals/${encodeURIComponent(id)}/approve`, {
    edited_data: { seats: 4 },
  });
  expect(answered.status).toBe(200);
  const status = async () =>
    ((await (await fetch(`${server.url}/runs/${run}`)).json()) as { readonly data: { readonly status: string } }).data
      .status;
  await expect.poll(status, { timeout: 20_000 }).toBe("completed");
  expect(booked()).toHaveLength(1);
});
