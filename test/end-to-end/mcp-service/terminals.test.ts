import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { TERMINAL_TOOLS } from "../../../src/ports/terminals/terminal-tools.ts";
import { toTerminalClient } from "../mcp-terminal/terminal-client.ts";
import { application } from "../support/application.ts";
import { pawl } from "../support/pawl.ts";
import { startServer } from "../support/server.ts";

const NAMES = Object.keys(TERMINAL_TOOLS);

async function serve() {
  const app = application({});
  const { url } = await startServer([], { cwd: app });
  return async (...args: readonly string[]) => {
    const made = await pawl(["keys", "create", "k", ...args], { cwd: app });
    expect(made.code, made.stderr).toBe(0);
    const client = new Client({ name: "test", version: "1" });
    onTestFinished(() => client.close());
    const requestInit = { headers: { authorization: `Bearer ${made.stdout.trim()}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
    const listed = (await client.listTools()).tools.map(({ name }) => name);
    return { client, call: toTerminalClient(client, 0).call, listed };
  };
}

test("a tenant that was granted terminals has them over MCP, and no other tenant sees or uses them", async () => {
  const connect = await serve();
  const acme = await connect("--tenant", "acme", "--grant", "terminals");
  const other = await connect("--tenant", "other", "--grant", "terminals");
  expect(acme.listed).toEqual(expect.arrayContaining(NAMES));

  const opened = await acme.call("open_terminal", { shell: "bash --norc" });
  expect(opened).toMatchObject({ success: true, web_url: null });
  const session_id = String(opened["session_id"]);
  await acme.call("send_input", { session_id, input_text: "echo 4''2-seen\n" });
  expect(await acme.call("await_output", { session_id, pattern: "42-seen" })).toMatchObject({ success: true });
  expect(await acme.call("list_terminal_sessions")).toMatchObject({ total_sessions: 1 });

  expect(await other.call("list_terminal_sessions")).toMatchObject({ total_sessions: 0, sessions: [] });
  for (const [tool, more] of [
    ["get_screen_content", {}],
    ["send_input", { input_text: "exit\n" }],
    ["await_output", { pattern: "seen" }],
    ["exit_terminal", {}],
  ] as const) {
    const refused = await other.call(tool, { session_id, ...more });
    const unknown = await other.call(tool, { session_id: "session_00000000", ...more });
    expect(JSON.stringify(refused), tool).not.toContain("seen");
    expect(refused["success"], tool).toBe(false);
    const said = ({ error, message = null }: JsonObject) => String(error ?? message).replace(/session_\w+/, "ID");
    expect(said(refused), tool).toBe(said(unknown));
  }
  expect(await acme.call("exit_terminal", { session_id })).toMatchObject({ success: true });
});

test("without the grant, or the scope, terminals are not listed and refused by name", async () => {
  const connect = await serve();
  for (const args of [
    ["--tenant", "acme"],
    ["--scopes", "admin"],
  ]) {
    const { client, listed } = await connect(...args);
    expect(listed.filter((name) => NAMES.includes(name))).toEqual([]);
    for (const name of NAMES) {
      const refused = await client.callTool({ name, arguments: { session_id: "session_00000000" } });
      expect(refused).toMatchObject({ isError: true });
      expect(JSON.stringify(refused.content)).toMatch(/NOT_GRANTED: .*open terminals.*--grant terminals/s);
    }
  }
  const reader = await connect("--scopes", "read", "--grant", "terminals");
  expect(reader.listed.filter((name) => NAMES.includes(name))).toEqual([]);
  const refused = await reader.client.callTool({ name: "open_terminal", arguments: {} });
  expect(JSON.stringify(refused.content)).toMatch(/FORBIDDEN/);
});
