import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { listenOn } from "../../src/app/server/listen-on.ts";
import { createMcpFetch, MCP_PATH } from "../../src/surfaces/mcp/create-mcp-fetch.ts";
import { application } from "../end-to-end/support/application.ts";
import { startServer } from "../end-to-end/support/server.ts";
import { createFixtureServer, createRequestStates } from "../fakes/conformance-server/create-fixture-server.ts";

const RUNS = [
  {
    name: "what the runner for 2025-11-25 asks",
    runner: "conformance-2025",
    select: [],
    baseline: "baseline-2025-11-25.yml",
    scenarios: 30,
  },
  {
    name: "what 2025-11-25 requires, by the runner for 2026-07-28",
    runner: "conformance-2026",
    select: ["--requirements", "2025-11-25"],
    baseline: "baseline-2025-11-25.yml",
    scenarios: 33,
  },
  {
    name: "what 2026-07-28 requires",
    runner: "conformance-2026",
    select: ["--requirements", "2026-07-28"],
    baseline: "baseline-2026-07-28.yml",
    scenarios: 50,
  },
];

for (const { name, runner, select, baseline, scenarios } of RUNS) {
  test(`our transport passes ${name}`, async () => {
    const url = await startFixture();
    const { code, report } = await run(runner, ["--url", url, "--expected-failures", fileOf(baseline), ...select]);
    expect({ code, report }).toMatchObject({ code: 0 });
    // A runner that finds nothing to do is content too.
    expect(report.match(/^[✓✗] [a-z]/gmu)).toHaveLength(scenarios);
  });
}

/** Those that need no tools, prompts or resources of the runner's own. */
const OF_ANY_SERVER = [
  ["conformance-2025", "server-initialize"],
  ["conformance-2025", "ping"],
  ["conformance-2025", "completion-complete"],
  ["conformance-2025", "tools-list"],
  ["conformance-2025", "resources-list"],
  ["conformance-2025", "server-sse-multiple-streams"],
  ["conformance-2025", "dns-rebinding-protection"],
  ["conformance-2026", "server-initialize"],
  ["conformance-2026", "server-session-lifecycle"],
  ["conformance-2026", "ping"],
  ["conformance-2026", "completion-complete"],
  ["conformance-2026", "tools-list"],
  ["conformance-2026", "resources-list"],
  ["conformance-2026", "sep-2164-resource-not-found"],
  ["conformance-2026", "input-required-result-unsupported-methods"],
  ["conformance-2026", "http-header-validation"],
  ["conformance-2026", "server-sse-multiple-streams"],
  ["conformance-2026", "dns-rebinding-protection"],
] as const;

test("/mcp of `pawl serve` passes what can be asked of any server", async () => {
  const { url } = await startServer([], { cwd: application({}) });
  for (const [runner, scenario] of OF_ANY_SERVER) {
    const { code, report } = await run(runner, ["--url", `${url}${MCP_PATH}`, "--scenario", scenario]);
    expect({ runner, scenario, code, report }).toMatchObject({ code: 0 });
  }
});

const CLIENTS = [
  { runner: "conformance-2025", baseline: "baseline-client-2025.yml", scenarios: 22 },
  { runner: "conformance-2026", baseline: "baseline-client-2026.yml", scenarios: 33 },
];

for (const { runner, baseline, scenarios } of CLIENTS) {
  test(`our client logs in as ${runner} wants it`, async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [mainOf(runner), "list"]);
    const named = [...new Set(stdout.match(/\bauth\/[\w-]+/g))];
    expect(named).toHaveLength(scenarios);
    const command = `${process.execPath} ${fileOf("../fakes/logging-in-client/main.ts")}`;
    const options = ["--command", command, "--timeout", "200000", "--expected-failures", fileOf(baseline)];
    for (const scenario of named) {
      const { code, report } = await run(runner, [...options, "--scenario", scenario], "client");
      expect({ scenario, code, report }).toMatchObject({ code: 0 });
    }
  });
}

test("each entry of a baseline has its reason", () => {
  for (const { baseline } of [...RUNS, ...CLIENTS]) {
    const lines = readFileSync(fileOf(baseline), "utf8").split("\n");
    const unexplained = lines.filter((line, i) => line.startsWith("  - ") && !lines[i - 1]?.startsWith("  # "));
    expect(unexplained).toEqual([]);
  }
});

/** The set-up of `pawl mcp terminal --http`, with other tools behind it. */
async function startFixture(): Promise<string> {
  const states = createRequestStates();
  const handler = createMcpFetch({
    createServer: () => createFixtureServer(states),
    token: TOKEN,
    log: () => undefined,
  });
  const listener = await listenOn((request) => handler.fetch(withToken(request)), { address: "127.0.0.1", port: 0 });
  onTestFinished(async () => {
    const closed = listener.close();
    await handler.close();
    listener.hurry(AbortSignal.abort());
    await closed;
  });
  return `${listener.url}${MCP_PATH}`;
}

const TOKEN = "of-the-runner";

/** The runner cannot be told a header. */
function withToken(request: Request): Request {
  request.headers.set("authorization", `Bearer ${TOKEN}`);
  return request;
}

function mainOf(runner: string): string {
  return fileOf(`node_modules/${runner}/dist/index.js`);
}

async function run(runner: string, args: readonly string[], of = "server"): Promise<{ code: number; report: string }> {
  const folder = mkdtempSync(join(tmpdir(), "pawl-conformance-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const ended = promisify(execFile)(process.execPath, [mainOf(runner), of, ...args], { cwd: folder });
  const { stdout, code = 0 } = (await ended.catch((error: { stdout: string; code: number }) => error)) as {
    stdout: string;
    code?: number;
  };
  return { code, report: stdout.slice(stdout.indexOf("=== SUMMARY ===")) };
}

function fileOf(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}
