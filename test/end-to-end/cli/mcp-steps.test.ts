import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { application } from "../support/application.ts";
import { pawl, startPawl } from "../support/pawl.ts";

const FAKE = fileURLToPath(new URL("../../fakes/mcp-server/main.ts", import.meta.url));

const OLD = fileURLToPath(new URL("../../fakes/mcp-server/old_server.py", import.meta.url));

const FLOW = `
workflowId: flow
startAt: look
steps:
  look:
    type: mcp
    target: {tool: fake.process}
    transitions: {onSuccess: keep}
  keep:
    type: mcp
    target: {tool: core.state.setRuntimeValue}
    inputMapping: {key: "'found'", value: "steps.look.output"}
    transitions: {onSuccess: read}
  read:
    type: mcp
    target: {tool: core.state.getRuntimeValue}
    inputMapping: {key: "'found'"}
    transitions: {end: true}
`;

const HANG = `
workflowId: hang
startAt: hang
steps:
  hang:
    type: mcp
    target: {tool: hang, server: fake}
    transitions: {end: true}
`;

test("steps call tools of `.mcp.json` and built-in ones, and no server is left when the run has ended", async () => {
  const folder = application({ "flow.yaml": FLOW, ".mcp.json": servers([]) });
  const { code, stdout, stderr } = await pawl(["run", "flow.yaml"], {
    cwd: folder,
    env: { MY_TOKEN: "hunter-2-hunter" },
  });
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  const { value } = JSON.parse(stdout) as { readonly value: { readonly pid: number; readonly token: string } };
  expect(value.token).toBe("[redacted]");
  expect(isAlive(value.pid)).toBe(false);
});

test("Ctrl-C in a call ends the server too", async () => {
  const folder = application({ "hang.yaml": HANG });
  const pidFile = join(folder, "pid");
  const entries = application({ ".mcp.json": servers([`pid-file=${pidFile}`]), "hang.yaml": HANG });
  const running = startPawl(["run", "hang.yaml"], { cwd: entries, env: { MY_TOKEN: "hunter-2-hunter" } });
  await running.said("hang#1 started");
  await expect.poll(() => existsSync(pidFile)).toBe(true);
  running.kill("SIGINT");
  expect((await running.ended).code).toBe(130);
  expect(isAlive(Number(readFileSync(pidFile, "utf8")))).toBe(false);
});

test("a server that cannot be used is refused before the run, with the file and the name", async () => {
  const folder = application({ "hang.yaml": HANG, ".mcp.json": '{"mcpServers": {"fake": {}}}' });
  const { code, stderr } = await pawl(["run", "hang.yaml"], { cwd: folder });
  expect(code).toBe(3);
  expect(stderr).toContain('The MCP server "fake" in .mcp.json cannot be used: it has neither `command` nor `url`.');
});

test("an answer that cannot be read fails the step once, whatever its retry policy, and its log names tools left out", async () => {
  const tools = [
    { name: "raw", inputSchema: { type: "object" } },
    { name: "bad", inputSchema: 7 },
  ];
  const list = `on:tools/list={"jsonrpc":"2.0","id":ID,"result":${JSON.stringify({ tools, nextCursor: null })}}`;
  const calls = [
    { isError: null, content: [] },
    { isError: "no", content: [] },
  ].map(
    (result) => `
name: flow
steps:
  - id: call
    type: mcp
    tool: old.raw
    arguments: {texts: ['{"jsonrpc":"2.0","id":ID,"result":${JSON.stringify(result)}}']}
    retry: {max_attempts: 3, backoff: fixed}
`,
  );
  for (const [index, call] of calls.entries()) {
    const folder = application({ "flow.yaml": call, ".mcp.json": old([list, "log=calls"]) });
    const { code, stdout } = await pawl(["run", "flow.yaml", "--json"], { cwd: folder });
    expect([code, readFileSync(join(folder, "calls"), "utf8")]).toEqual([index, "raw\n"]);
    expect(stdout).toContain(index === 0 ? '"status":"completed"' : "MCP_RESULT_INVALID");
    const logs = await pawl(["runs", "logs", JSON.parse(stdout).data.run_id, "call"], { cwd: folder });
    if (index === 0) expect(logs.stdout).toContain('its tool \\"bad\\" was left out');
  }
});

test("a step whose server hangs before it is asked fails in the step's time, and says what it waited for", async () => {
  const flow = "{name: flow, steps: [{id: call, type: mcp, tool: old.raw, timeout: 2s}]}";
  const folder = application({ "flow.yaml": flow, ".mcp.json": old(["hang=tools/list"]) });
  const { code, stdout } = await pawl(["run", "flow.yaml", "--json"], { cwd: folder });
  expect(code).toBe(1);
  expect(JSON.parse(stdout).data.error).toMatchObject({
    code: "TIMEOUT",
    message: expect.stringContaining('the MCP server "old" had not said which tools it has'),
  });
});

test("a step that times out after its server printed something that may be an answer calls the tool once", async () => {
  const flow = `
name: flow
steps:
  - {id: call, type: mcp, tool: old.raw, timeout: 2s, arguments: {texts: [oops]}, retry: {max_attempts: 3, backoff: fixed}}
`;
  const folder = application({ "flow.yaml": flow, ".mcp.json": old(["log=calls"]) });
  const { stdout } = await pawl(["run", "flow.yaml", "--json"], { cwd: folder });
  const { error } = JSON.parse(stdout).data;
  expect(error).toMatchObject({ code: "TIMEOUT", message: expect.stringContaining('was no message: "oops"') });
  expect(readFileSync(join(folder, "calls"), "utf8")).toBe("raw\n");
});

function old(faults: readonly string[]): string {
  return JSON.stringify({ mcpServers: { old: { command: "python3", args: [OLD, ...faults] } } });
}

function servers(faults: readonly string[]): string {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as the file of other programs names a variable
  const env = { TOKEN: "${MY_TOKEN}" };
  return JSON.stringify({ mcpServers: { fake: { command: process.execPath, args: [FAKE, ...faults], env } } });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
