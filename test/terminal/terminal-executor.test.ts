import { expect, test } from "vitest";
import type { Json, JsonObject } from "../../src/core/json.ts";
import type { EndedRun, Outcome, Task } from "../../src/ports/executor.ts";
import { grantAll } from "../fakes/purse.ts";
import { MemoryFileStorage } from "../support/memory/memory-file-storage.ts";
import { type RealTerminals, realTerminals } from "./real-terminals.ts";

function taskOf(tool: string, params: Json, more: Partial<Task> = {}): Task {
  return {
    runId: "run-1",
    workflow: "test",
    stepId: "a",
    path: "a#1",
    attempt: 1,
    idempotencyKey: "run-1:a#1:1",
    input: { tool, params },
    settings: {},
    files: new MemoryFileStorage(),
    emit: () => undefined,
    reserve: grantAll,
    record: async () => undefined,
    recorded: async () => undefined,
    ...more,
  };
}

async function call(
  { executor }: RealTerminals,
  tool: string,
  params: Json,
  more: Partial<Task> = {},
): Promise<Outcome> {
  return executor.run(taskOf(tool, params, more), new AbortController().signal);
}

async function resultOf(
  terminals: RealTerminals,
  tool: string,
  params: Json,
  more: Partial<Task> = {},
): Promise<JsonObject> {
  const outcome = await call(terminals, tool, params, more);
  if (outcome.status === "failed") throw new Error(outcome.message);
  return outcome.output as JsonObject;
}

function ended(more: Partial<EndedRun> = {}): EndedRun {
  return { runId: "run-1", status: "completed", options: {}, ...more };
}

test("a session is opened, typed into, waited for, looked at and closed", async () => {
  const terminals = realTerminals();
  const { session_id } = await resultOf(terminals, "open_terminal", { shell: "bash", environment: { WHO: "me" } });
  await resultOf(terminals, "send_input", { session_id: session_id ?? null, input_text: "echo hello $WHO\n" });
  expect(
    await resultOf(terminals, "await_output", { session_id: session_id ?? null, pattern: "hello me", timeout: "5" }),
  ).toMatchObject({ success: true, match_text: "hello me" });
  expect(
    await resultOf(terminals, "get_screen_content", {
      session_id: session_id ?? null,
      content_mode: "tail",
      line_count: "5",
    }),
  ).toMatchObject({ success: true, screen_content: expect.stringContaining("hello me") });
  expect(await resultOf(terminals, "list_terminal_sessions", {})).toMatchObject({ total_sessions: 1 });
  expect(await resultOf(terminals, "exit_terminal", { session_id: session_id ?? null })).toMatchObject({
    success: true,
  });
});

test.each<[string, Json, string]>([
  ["send_input", { session_id: "s" }, "`input_text` is missing."],
  ["send_input", { session_id: 5, input_text: "x" }, "`session_id` must be a text."],
  ["send_input", { session_id: "s", input_text: "x", keys: "Enter" }, "`keys` must be a list of texts."],
  ["await_output", { session_id: "s", pattern: "x", timeout: "soon" }, "`timeout` must be a number."],
  ["open_terminal", { environment: { A: 1 } }, "`environment` must be a map of texts."],
  [
    "get_screen_content",
    { session_id: "s", content_mode: "all" },
    "`content_mode` is one of screen, since_input, history, tail.",
  ],
  ["exit_terminal", {}, "`session_id` is missing."],
  ["make_coffee", {}, "There is no tool `make_coffee`."],
])("%s with %j is a result that says what is wrong", async (tool, params, error) => {
  expect(await resultOf(realTerminals(), tool, params)).toEqual({ success: false, error });
});

test("a session that does not exist is a result", async () => {
  const result = await resultOf(realTerminals(), "send_input", { session_id: "nonexistent", input_text: "x" });
  expect(result).toMatchObject({ success: false, message: "Session not found" });
});

test("a refusal is a result that names the rule, and calls of workflows do not count against the rate", async () => {
  const terminals = realTerminals({ level: "high", maxCallsPerMinute: 2 });
  for (let n = 0; n < 5; n += 1) await resultOf(terminals, "list_terminal_sessions", {});
  const { session_id = null } = await resultOf(terminals, "open_terminal", {});
  const refused = await resultOf(terminals, "send_input", { session_id, input_text: "sudo ls\n" });
  expect(refused).toMatchObject({ success: false, error_code: "TERMINAL_REFUSED" });
  expect(refused["error"]).toContain("Security violation: Tool call rejected");
});

test("a session of a process that has ended is lost, one that was closed here is only not there", async () => {
  const before = realTerminals();
  const { session_id = null } = await resultOf(before, "open_terminal", {});
  const after = realTerminals();
  expect(await call(after, "send_input", { session_id, input_text: "x" })).toMatchObject({
    status: "failed",
    code: "SESSION_LOST",
    effect: "none",
  });
  expect(await resultOf(after, "exit_terminal", { session_id })).toMatchObject({ success: false });
  await resultOf(before, "exit_terminal", { session_id });
  expect(await resultOf(before, "send_input", { session_id, input_text: "x" })).toMatchObject({ success: false });
});

test("what is told to stop stops, and is no result", async () => {
  const terminals = realTerminals();
  const { session_id = null } = await resultOf(terminals, "open_terminal", {});
  const controller = new AbortController();
  const waiting = terminals.executor.run(
    taskOf("await_output", { session_id, pattern: "never", timeout: 60 }),
    controller.signal,
  );
  controller.abort();
  expect(await waiting).toMatchObject({ status: "failed", code: "INTERRUPTED", effect: "unknown" });
});

test.each<[string, Partial<EndedRun>, number]>([
  ["stay after a success", {}, 2],
  ["are closed after a success, if the run was started so", { options: { keep_sessions: false } }, 1],
  ["are closed after a failure", { status: "failed" }, 1],
  ["are closed after a cancel", { status: "cancelled" }, 1],
  ["of another run stay", { runId: "run-2", status: "failed" }, 1],
])(
  "sessions %s",
  async (_, run, left) => {
    const terminals = realTerminals();
    await resultOf(terminals, "open_terminal", {});
    await resultOf(terminals, "open_terminal", {}, { runId: "run-2" });
    await terminals.executor.runEnded?.(ended(run));
    expect(await terminals.sessions.call("list_terminal_sessions", {}, { isInternal: true })).toMatchObject({
      total_sessions: left,
    });
  },
  30_000,
);
