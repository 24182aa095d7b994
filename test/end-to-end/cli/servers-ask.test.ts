import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { application } from "../support/application.ts";
import { pawl } from "../support/pawl.ts";
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
