import { expect, test } from "vitest";
import { connectTerminal, startHttp } from "../end-to-end/mcp-terminal/terminal-client.ts";
import { application } from "../end-to-end/support/application.ts";
import { type ForeignClient, inspector, oldSdk } from "./foreign-clients.ts";

const SEVEN = [
  "open_terminal",
  "send_input",
  "run_command",
  "await_output",
  "get_screen_content",
  "list_terminal_sessions",
  "exit_terminal",
  "run_workflow",
];

const GREETING = {
  name: "greeting",
  description: "Greets in a shell.",
  initial_state: "open",
  states: {
    open: {
      action: { tool: "open_terminal", params: { shell: "bash --norc", environment: { WHO: "{who}" } } },
      transitions: [{ condition: { success: true }, next_state: "say" }],
    },
    say: {
      action: { tool: "send_input", params: { session_id: "{session_id}", input_text: 'echo "hello $WHO"\n' } },
      transitions: [{ condition: { success: true }, next_state: "wait" }],
    },
    wait: {
      action: { tool: "await_output", params: { session_id: "{session_id}", pattern: "hello {who}", timeout: 20 } },
      transitions: [{ condition: { field_equals: { match_text: "hello {who}" } }, next_state: "close" }],
    },
    close: { action: { tool: "exit_terminal", params: { session_id: "{session_id}" } } },
  },
};

test("the Inspector uses terminals and workflows over stdio, as a client of 2025", async () => {
  const app = application({});
  // Each request of the Inspector starts a server that ends with it: the terminals live in the first one that needs them.
  await (await connectTerminal(app)).call("list_terminal_sessions");
  await useEverything(inspector({ app, verb: ["mcp", "terminal"] }, "legacy"));
});

test("the Inspector uses terminals and workflows over HTTP, as a client of 2026", async () => {
  const { url, token } = await startHttp(application({}));
  await useEverything(inspector({ url: url.href, token }, "modern"));
});

test("a client of the SDK before this one uses terminals and workflows over stdio", async () => {
  await useEverything(await oldSdk({ app: application({}), verb: ["mcp", "terminal"] }));
});

test("a client of the SDK before this one uses terminals and workflows over HTTP", async () => {
  const { url, token } = await startHttp(application({}));
  await useEverything(await oldSdk({ url: url.href, token }));
});

/** Open, send, await; run a workflow, see it saved, run it by its name. */
async function useEverything(client: ForeignClient): Promise<void> {
  expect(await client.listTools()).toEqual(SEVEN);
  const { session_id = null } = await client.call("open_terminal", { shell: "bash --norc" });
  await client.call("send_input", { session_id, input_text: "expr 6 '*' 7\n" });
  const awaited = await client.call("await_output", { session_id, pattern: "^\\d+$", timeout: 20 });
  expect(awaited).toMatchObject({ success: true, match_text: "42" });
  expect(await client.read(`terminal://${session_id}/screen`)).toContain("42");
  expect(await client.call("exit_terminal", { session_id })).toMatchObject({ message: "Session destroyed" });

  const ran = await client.call("run_workflow", {
    workflow_definition: GREETING,
    initial_variables: { who: "Ada" },
  });
  expect(ran).toMatchObject({ success: true, states_executed: 4, saved_workflow_name: "greeting", error: null });
  expect(JSON.parse(await client.read("workflow://greeting"))).toEqual(GREETING);
  const again = await client.call("run_workflow", { workflow_name: "greeting", initial_variables: { who: "Bob" } });
  expect(again).toMatchObject({ success: true, final_variables: { match_text: "hello Bob" } });
  expect(await client.listPrompts()).toEqual(["author_workflow", "debug_run"]);
}
