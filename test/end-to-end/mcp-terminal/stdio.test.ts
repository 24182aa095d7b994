import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { application } from "../support/application.ts";
import { pawlCommand } from "../support/pawl.ts";
import { connectTerminal, ERAS } from "./terminal-client.ts";

const TOOLS = [
  "open_terminal",
  "send_input",
  "run_command",
  "await_output",
  "get_screen_content",
  "list_terminal_sessions",
  "exit_terminal",
  "run_workflow",
];

for (const [era, negotiation] of ERAS) {
  test(`a client of ${era} has eight tools and uses a terminal with them`, async () => {
    const { client, call } = await connectTerminal(application({}), { negotiation });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(TOOLS);
    for (const { name, title, description, annotations, inputSchema, outputSchema } of tools) {
      expect([title, description]).toEqual([expect.any(String), expect.any(String)]);
      // The answer of a command is a text.
      expect([inputSchema.type, outputSchema?.type ?? name]).toEqual([
        "object",
        name === "run_command" ? name : "object",
      ]);
      expect(annotations).toEqual({
        readOnlyHint: expect.any(Boolean),
        destructiveHint: expect.any(Boolean),
        idempotentHint: expect.any(Boolean),
        openWorldHint: expect.any(Boolean),
      });
    }

    const opened = await call("open_terminal", { shell: "bash --norc" });
    expect(opened).toMatchObject({ success: true, session_id: expect.stringMatching(/^session_[0-9a-f]{8}$/) });
    const { session_id = null } = opened;
    const sent = await client.callTool({
      name: "send_input",
      arguments: { session_id, input_text: "expr 6 '*' 7\n" },
    });
    expect(sent.structuredContent).toMatchObject({ success: true, process_running: true });
    expect(sent.content).toEqual([{ type: "text", text: JSON.stringify(sent.structuredContent) }]);
    expect(await call("await_output", { session_id, pattern: "^\\d+$" })).toMatchObject({ match_text: "42" });
    const read = await call("get_screen_content", { session_id, content_mode: "tail", line_count: 2 });
    expect(read["screen_content"]).toContain("42");
    expect(await call("list_terminal_sessions")).toMatchObject({ total_sessions: 1, sessions: [{ session_id }] });
    expect(await call("exit_terminal", { session_id })).toMatchObject({ success: true, message: "Session destroyed" });
    expect(await call("send_input", { session_id, input_text: "x" })).toMatchObject({
      success: false,
      message: "Session not found",
    });
  });
}

test("a command is answered by one line of facts and its output, and nothing twice", async () => {
  const { client } = await connectTerminal(application({}));
  const run = async (request: Readonly<Record<string, unknown>>) => {
    const { content, structuredContent } = await client.callTool({ name: "run_command", arguments: request });
    expect(structuredContent).toBeUndefined();
    const [answer] = content;
    return answer?.type === "text" ? answer.text : "";
  };
  const first = await run({ command: "echo hello" });
  const [, session_id] = /^exit 0, \d+ ms, cwd \S+, (session_[0-9a-f]{8})\nhello$/.exec(first) ?? [];
  expect(session_id, first).toBeDefined();
  expect(await run({ command: "exit 3", session_id })).toMatch(
    /^exit 3, \d+ ms, session_[0-9a-f]{8}, the shell has ended(?:\nexit)?$/,
  );
  expect(await run({ command: "true", session_id })).toBe("error: The program of the session has ended.");
});

test("a client of the SDK before this one gets along", async () => {
  const { Client: OldClient, StdioClientTransport: OldTransport } = await loadOldSdk();
  const { command, env } = pawlCommand(["mcp", "terminal"]);
  const [program = "", ...args] = command;
  const client = new OldClient({ name: "test", version: "1" });
  onTestFinished(() => client.close());
  await client.connect(new OldTransport({ command: program, args, env, cwd: application({}), stderr: "ignore" }));
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(TOOLS);
  const ran = await client.callTool({
    name: "run_workflow",
    arguments: { workflow_definition: { name: "one", initial_state: "a", states: { a: LIST } } },
  });
  expect(ran.structuredContent).toMatchObject({ success: true, saved_workflow_name: "one" });
  const { resources } = await client.listResources();
  expect(resources.map(({ uri }) => uri)).toContain("workflow://one");
});

test("parameters may come flat, wrapped as the Python server took them, or written as a text", async () => {
  const { call, refusal } = await connectTerminal(application({}));
  const request = { shell: "bash --norc" };
  for (const args of [request, { request }, { request: JSON.stringify(request) }]) {
    const { session_id = null } = await call("open_terminal", args);
    expect(await call("exit_terminal", { request: { session_id } })).toMatchObject({ success: true });
  }
  const definition = { name: "texts", initial_state: "a", states: { a: LIST } };
  const written = { request: { workflow_definition: JSON.stringify(definition) } };
  expect(await call("run_workflow", written)).toMatchObject({ success: true });
  expect(await refusal("send_input", { session_id: "session_00000000" })).toContain("`input_text` is missing");
});

test("what a rule forbids is an error that begins as the Python server's and names the rule", async () => {
  const { call, refusal } = await connectTerminal(application({}));
  const { session_id = null } = await call("open_terminal");
  const said = await refusal("send_input", { session_id, input_text: "sudo ls\n" });
  expect(said).toMatch(/^Security violation: Tool call rejected by the rule "other-user"/);
  expect(await refusal("open_terminal", { environment: { LD_PRELOAD: "x" } })).toContain("protected-environment");
});

test("tools over runs are there only where they are asked for", async () => {
  const { client, call, refusal } = await connectTerminal(application({}), { options: ["--tools", "runs"] });
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual([...TOOLS, "get_run", "list_runs", "cancel_run", "respond_to_run"]);
  const definition = { name: "listing", initial_state: "a", states: { a: LIST } };
  const { run_id = null } = await call("run_workflow", { workflow_definition: definition });
  expect(await call("get_run", { run_id })).toMatchObject({ status: "completed", steps: [{ step_id: "a" }] });
  expect(await call("list_runs", { status: ["completed"] })).toMatchObject({ items: [{ run_id }], next_cursor: null });
  expect(await refusal("cancel_run", { run_id })).toContain("has ended");
  expect(await refusal("respond_to_run", { run_id, answer: "approve" })).toContain("has ended");
});

const LIST = { action: { tool: "list_terminal_sessions", params: {} } };

type OldSdk = Pick<typeof import("@modelcontextprotocol/client"), "Client"> &
  Pick<typeof import("@modelcontextprotocol/client/stdio"), "StdioClientTransport">;

/** The reference server brings it along. What is used of it has the same types as today's. */
async function loadOldSdk(): Promise<OldSdk> {
  const { resolve } = createRequire(import.meta.resolve("@modelcontextprotocol/server-everything/package.json"));
  const load = (path: string) => import(pathToFileURL(resolve(`@modelcontextprotocol/sdk/client/${path}.js`)).href);
  return { ...(await load("index")), ...(await load("stdio")) } as OldSdk;
}
