import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { estimateTokens } from "../../../src/core/estimate-tokens.ts";
import { isJsonObject, type JsonObject } from "../../../src/core/json.ts";
import { WORKFLOW_LESSON } from "../../../src/operations/terminals/workflow-lesson.ts";
import { application } from "../support/application.ts";
import { pawl } from "../support/pawl.ts";
import { connectTerminal, ERAS, gone } from "./terminal-client.ts";

const ok = { success: true };

/** Waits for its file in a shell that says which process it is. */
const WAITING: JsonObject = {
  name: "waiting",
  initial_state: "open",
  states: {
    open: {
      action: { tool: "open_terminal", params: { shell: "bash --norc" } },
      transitions: [{ condition: ok, next_state: "type" }],
    },
    type: {
      action: {
        tool: "send_input",
        params: { session_id: "{session_id}", input_text: "echo $$ > shell.pid; tail -F -n +1 go\n" },
      },
      transitions: [{ condition: ok, next_state: "wait" }],
    },
    wait: {
      action: { tool: "await_output", params: { session_id: "{session_id}", pattern: "^gone on", timeout: 120 } },
      transitions: [{ condition: ok, next_state: "close" }],
    },
    close: { action: { tool: "exit_terminal", params: { session_id: "{session_id}" } } },
  },
};

test("the definition that the tool's description teaches runs, is saved, and is run by its name", async () => {
  const folder = application({});
  const { call } = await connectTerminal(folder);
  const workflow_definition = exampleOf(WORKFLOW_LESSON);
  const first = await call("run_workflow", { workflow_definition, initial_variables: { who: "Ada" } });
  expect(first).toMatchObject({
    success: true,
    final_state: "end",
    states_executed: 2,
    workflow_saved: true,
    saved_workflow_name: "greet",
    available_workflows: ["greet"],
    run_id: expect.any(String),
    status: "completed",
    execution_log: [{ result: { output: "hi Ada" } }, {}],
  });
  expect(existsSync(join(folder, ".terminal_control_workflows/greet.json"))).toBe(true);
  const again = await call("run_workflow", { workflow_name: "greet", initial_variables: { who: "Bob" } });
  expect(again).toMatchObject({
    success: true,
    execution_log: [{ result: { output: "hi Bob" } }, {}],
    workflow_saved: false,
  });
  const { stdout } = await pawl(["workflows", "ls", "--json"], { cwd: folder });
  expect(JSON.parse(stdout).data.items).toMatchObject([{ name: "greet", success_count: 2 }]);
});

test("what a workflow of 42 states has done is told in 6,000 tokens, and the list of the tools in 2,500", async () => {
  const folder = application({});
  const { client, call } = await connectTerminal(folder);
  const states: JsonObject = Object.fromEntries(
    Array.from({ length: 42 }, (_, index): [string, JsonObject] => {
      const command = `echo "step ${index} of the build"; seq 1 ${index % 5}`;
      const session: JsonObject = index === 0 ? {} : { session_id: "{session_id}" };
      const transitions = index === 41 ? [] : [{ condition: { success: true }, next_state: `state${index + 1}` }];
      return [`state${index}`, { action: { tool: "run_command", params: { command, ...session } }, transitions }];
    }),
  );
  const answer = await call("run_workflow", { workflow_definition: { name: "long", initial_state: "state0", states } });
  expect(answer).toMatchObject({ success: true, states_executed: 42 });
  expect(answer["execution_log"]).toHaveLength(42);
  expect(estimateTokens(JSON.stringify(answer))).toBeLessThanOrEqual(6_000);
  const { tools } = await client.listTools();
  expect(estimateTokens(JSON.stringify(tools))).toBeLessThanOrEqual(2_500);
});

test("an equal call with the same idempotency key has the same run, also while it goes on, and another call is refused", async () => {
  const folder = application({});
  const { call } = await connectTerminal(folder);
  const { call: elsewhere } = await connectTerminal(folder);
  const states = {
    open: {
      action: { tool: "open_terminal", params: { shell: "bash --norc" } },
      transitions: [{ condition: ok, next_state: "type" }],
    },
    type: {
      action: { tool: "send_input", params: { session_id: "{session_id}", input_text: "echo once >> runs\n" } },
      transitions: [{ condition: ok, next_state: "wait" }],
    },
    wait: {
      action: { tool: "await_output", params: { session_id: "{session_id}", pattern: "no such text", timeout: 2 } },
      transitions: [{ condition: ok, next_state: "close" }],
    },
    close: { action: { tool: "exit_terminal", params: { session_id: "{session_id}" } } },
  };
  const request = { workflow_definition: { name: "once", initial_state: "open", states }, idempotency_key: "k-1" };
  const [first, second] = await Promise.all([call("run_workflow", request), elsewhere("run_workflow", request)]);
  const third = await call("run_workflow", request);
  expect([first, second, third].map(({ success, final_state }) => [success, final_state])).toEqual(
    Array(3).fill([true, "close"]),
  );
  expect(new Set([first, second, third].map(({ run_id }) => run_id)).size).toBe(1);
  expect(readFileSync(join(folder, "runs"), "utf8")).toBe("once\n");
  const other = await call("run_workflow", { ...request, max_states: 7 });
  expect(other).toMatchObject({ success: false, run_id: null, error: expect.stringContaining('The key "k-1"') });
});

test("what is wrong with a request or a definition is said, and what there is instead", async () => {
  const { call, refusal } = await connectTerminal(application({}));
  expect(await refusal("run_workflow", {})).toMatch(
    /^Either 'workflow_definition' or 'workflow_name' must be provided/,
  );
  const twice = { workflow_name: "a", workflow_definition: WAITING };
  expect(await refusal("run_workflow", twice)).toMatch(
    /^Provide either 'workflow_definition' OR 'workflow_name', not both/,
  );
  expect(await refusal("run_workflow", { workflow_name: "a", max_states: 1_001 })).toContain("max_states");
  expect(await call("run_workflow", { workflow_name: "a" })).toMatchObject({
    success: false,
    final_state: "error",
    error: "Workflow 'a' not found. Available: []",
    run_id: null,
  });
  const broken = { ...WAITING, initial_state: "nowhere" };
  expect(await call("run_workflow", { workflow_definition: broken })).toMatchObject({
    success: false,
    error: expect.stringContaining("Initial state 'nowhere' not found in states"),
  });
});

for (const [era, negotiation] of ERAS) {
  test(`a client of ${era} hears of every state, and a call that it cancels ends no run`, async () => {
    const folder = application({});
    const { client, call, pid } = await connectTerminal(folder, { negotiation });
    const heard: { progress: number; total?: number | undefined; message?: string | undefined }[] = [];
    const isWaiting = Promise.withResolvers<void>();
    const stop = new AbortController();
    const ended = call(
      "run_workflow",
      { workflow_definition: WAITING },
      {
        signal: stop.signal,
        onprogress: (progress) => {
          heard.push(progress);
          if (progress.message?.endsWith("wait") === true) isWaiting.resolve();
        },
      },
    );
    ended.catch(() => undefined);
    await isWaiting.promise;
    expect(heard.map(({ message }) => message)).toEqual([
      "State 1 of at most 100: open",
      "State 2 of at most 100: type",
      "State 3 of at most 100: wait",
    ]);
    expect(heard.map(({ progress, total }) => [progress, total])).toEqual([
      [0, 100],
      [1, 100],
      [2, 100],
    ]);
    stop.abort();
    await expect(ended).rejects.toThrow();
    const { run_id = null, ...left } = await latestRun(folder);
    expect(left).toMatchObject({ workflow_name: "waiting", status: "running" });

    // A file that is there is what it waits for.
    writeFileSync(join(folder, "go"), "gone on\n");

    expect(await call("run_workflow", { run_id })).toMatchObject({ success: true, final_state: "close", run_id });
    await client.close();
    await gone(pid);
  });
}

async function latestRun(folder: string): Promise<JsonObject> {
  const { stdout } = await pawl(["runs", "ls", "--json"], { cwd: folder });
  return JSON.parse(stdout).data.items[0];
}

test("with `wait_seconds` the answer comes while the run goes on, says how to collect it, and only a cancel ends it", async () => {
  const { call } = await connectTerminal(application({}));
  const early = await call("run_workflow", { workflow_definition: WAITING, wait_seconds: 0.2 });
  expect(early).toMatchObject({ success: null, error: null, status: "running", run_id: expect.any(String) });
  expect(early["final_state"]).not.toBe("error");
  const { run_id = null } = early;
  expect(early["next"]).toContain(`{"run_id": "${run_id}"}`);
  expect(await call("run_workflow", { run_id, wait_seconds: 0.2 })).toMatchObject({ status: "running" });
  expect(await call("run_workflow", { run_id, cancel: true })).toMatchObject({ success: false, status: "cancelled" });
  // One that was just being opened is closed when it is open.
  await expect.poll(() => call("list_terminal_sessions")).toMatchObject({ total_sessions: 0 });
});

test("a run whose client goes away is collected by another one", async () => {
  const folder = application({});
  const first = await connectTerminal(folder);
  const { run_id = null } = await first.call("run_workflow", { workflow_definition: WAITING, wait_seconds: 0.2 });
  // The client library ends a server that stays with a signal: this one only closes its stdin.
  const second = await connectTerminal(folder);
  const collected = second.call("run_workflow", { run_id });
  const closed = first.client.close();
  writeFileSync(join(folder, "go"), "gone on\n");
  expect(await collected).toMatchObject({ success: true, final_state: "close", run_id });
  await closed;
  await gone(first.pid);
});

test("a run whose owner is killed is taken up by the next client, which collects it", async () => {
  const folder = application({});
  const states = {
    open: {
      action: { tool: "open_terminal", params: { shell: "bash --norc" } },
      transitions: [{ condition: ok, next_state: "wait" }],
    },
    wait: {
      action: { tool: "await_output", params: { session_id: "{session_id}", pattern: "^never", timeout: 120 } },
      // The terminal dies with its owner.
      transitions: [{ condition: { success: false }, next_state: "again" }],
    },
    again: { action: { tool: "open_terminal", params: { shell: "bash --norc" } } },
  };
  const first = await connectTerminal(folder);
  const { run_id = null } = await first.call("run_workflow", {
    workflow_definition: { name: "stubborn", initial_state: "open", states },
    wait_seconds: 0.1,
  });
  // The terminal is open, and the next state waits in it.
  const look = () => first.call("run_workflow", { run_id, wait_seconds: 0.1 });
  await expect.poll(async () => (await look())["final_state"]).toBe("open");
  process.kill(first.pid, "SIGKILL");
  await gone(first.pid);
  const second = await connectTerminal(folder);
  expect(await second.call("run_workflow", { run_id })).toMatchObject({ success: true, final_state: "again", run_id });
});

/** The first object in a text. */
function exampleOf(text: string): JsonObject {
  const lines = text.split("\n");
  const from = lines.findIndex((line) => line.startsWith("{"));
  const to = lines.findIndex((line, index) => index > from && line === "");
  const example: unknown = JSON.parse(lines.slice(from, to).join("\n"));
  if (!isJsonObject(example as JsonObject)) throw new Error("There is no example.");
  return example as JsonObject;
}

test("a workflow that was saved through the service is run by its name", async () => {
  const states = { list: { action: { tool: "list_terminal_sessions", params: {} } } };
  const kept = { name: "kept", initial_state: "list", states };
  const folder = application({ "elsewhere.json": JSON.stringify(kept) });
  expect(await pawl(["workflows", "save", "elsewhere.json"], { cwd: folder })).toMatchObject({ code: 0 });
  const { call } = await connectTerminal(folder);
  expect(await call("run_workflow", { workflow_name: "kept" })).toMatchObject({ success: true, error: null });
});
