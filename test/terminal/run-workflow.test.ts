import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { WorkflowProgress } from "../../src/operations/terminals/run-terminal-workflow.ts";
import { state, using, when, workflow } from "./terminal-world.ts";
import { testApplication } from "./test-application.ts";

const success = { success: true };
const SECONDS = 1_000;

describe("the answer", () => {
  test("has every field, and what went on in each state", async () => {
    const { run } = await testApplication();
    const result = await run({ workflow_definition: workflow({ only: state() }) });
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(result).toEqual({
      success: true,
      final_state: "only",
      states_executed: 1,
      total_elapsed_time: expect.any(Number),
      execution_log: [
        {
          state: "only",
          tool: "list_terminal_sessions",
          params: {},
          result: { success: true, sessions: [], total_sessions: 0 },
          variables_after: {
            success: "true",
            total_sessions: "0",
            only_success: "true",
            only_sessions: "[]",
            only_total_sessions: "0",
          },
          elapsed_time: expect.any(Number),
          timestamp: time,
        },
      ],
      final_variables: {
        success: "true",
        total_sessions: "0",
        only_success: "true",
        only_sessions: "[]",
        only_total_sessions: "0",
      },
      session_id: null,
      workflow_saved: true,
      saved_workflow_name: "test",
      available_workflows: ["test"],
      recursion_depth: 0,
      error: null,
      run_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      status: "completed",
    });
  });

  test("leads on by the exit code of a command and by its output", async () => {
    const { run } = await testApplication();
    const command = (text: string, ...transitions: Parameters<typeof when>[]) =>
      using(
        "run_command",
        { session_id: "{session_id}", command: text },
        transitions.map((each) => when(...each)),
      );
    const result = await run({
      workflow_definition: workflow({
        open: using("run_command", { command: "echo status=ok" }, [
          when({ pattern_match: "status=ok$", success: true }, "three"),
        ]),
        three: command("sh -c 'exit 3'", [{ success: true }, "wrong"], [{ field_equals: { exit_code: 3 } }, "end"]),
        end: command("echo {three_exit_code}"),
        wrong: state(),
      }),
    });
    expect(result).toMatchObject({
      success: true,
      final_state: "end",
      execution_log: [{}, { result: { exit_code: 3, success: false } }, { result: { output: "3" } }],
    });
  });

  test("says what there is where a name is unknown", async () => {
    const { run, library } = await testApplication();
    await library.save(workflow({ a: state() }, { name: "one" }), { states: 1 });
    expect(await run({ workflow_name: "../one" })).toMatchObject({
      success: false,
      final_state: "error",
      available_workflows: ["one"],
      error: "Workflow '../one' not found. Available: ['one']",
    });
  });

  test("says so where a definition is nested too deeply", async () => {
    const { run } = await testApplication();
    const states = JSON.parse(`${"[".repeat(50_000)}${"]".repeat(50_000)}`);
    const { success, error } = await run({ workflow_definition: { name: "deep", initial_state: "a", states } });
    expect([success, error]).toEqual([false, expect.stringContaining("nested too deeply")]);
  });

  test("stays a success where the workflow cannot be saved", async () => {
    const { run, app } = await testApplication();
    writeFileSync(join(app.appDir, ".terminal_control_workflows"), "in the way");
    const result = await run({ workflow_definition: workflow({ a: state() }) });
    expect(result).toMatchObject({ success: true, workflow_saved: false, available_workflows: [] });
    expect(result.error).toMatch(/^Workflow succeeded but saving failed: /);
  });

  test(
    "masks secrets that a screen shows",
    async () => {
      const { run } = await testApplication({ SECRET_TOKEN: "very-secret-value" });
      const shows = workflow({
        open: using("open_terminal", {}, [when(success, "type")]),
        type: using("send_input", { session_id: "{session_id}", input_text: "echo very-secret-value\n" }),
      });
      const result = await run({
        workflow_definition: shows,
        initial_variables: { token: "very-secret-value" },
        save_on_success: false,
      });
      expect(result.success).toBe(true);
      expect(JSON.stringify(result)).not.toContain("very-secret-value");
    },
    60 * SECONDS,
  );

  test(
    "reads an environment variable that is allowed, and shows it nowhere",
    async () => {
      const { run } = await testApplication({
        PAWL_TERMINAL__ENV_ALLOW: "PASSPHRASE",
        PASSPHRASE: "open sesame",
        OTHER: "hidden",
      });
      const reads = workflow({
        open: using("open_terminal", { environment: { IT: "{env.PASSPHRASE}", NOT: "{env.OTHER}" } }, [
          when(success, "type"),
        ]),
        type: using(
          "send_input",
          { session_id: "{session_id}", input_text: 'echo $(printf %s "$IT" | wc -c) $NOT; echo $IT\n' },
          [when({ pattern_match: "11 \\{env\\.OTHER\\}" }, "end")],
        ),
        end: state(),
      });
      const result = await run({ workflow_definition: reads, save_on_success: false });
      expect(result).toMatchObject({ success: true, final_state: "end" });
      expect(JSON.stringify(result)).not.toContain("sesame");
    },
    60 * SECONDS,
  );

  test("of a workflow of another dialect holds what it gave", async () => {
    const { run, app } = await testApplication();
    mkdirSync(join(app.appDir, "workflows"));
    const yaml = "name: pause\nsteps:\n  - {id: rest, type: wait, duration: 1ms}\n";
    writeFileSync(join(app.appDir, "workflows", "pause.yaml"), yaml);
    const direct = await run({ workflow_name: "pause" });
    expect(direct).toMatchObject({
      error: null,
      success: true,
      final_state: "completed",
      states_executed: 0,
      output: { rest: null },
    });
    const calls = workflow({
      sub: using("run_workflow", { workflow_name: "pause" }, [
        when({ field_equals: { output: { rest: null }, final_state: "completed" } }, "end"),
      ]),
      end: state(),
    });
    expect(await run({ workflow_definition: calls })).toMatchObject({ success: true, final_state: "end" });
  });
});

test(
  "other dialects have terminals as steps, and call terminal workflows by their names",
  async () => {
    const { run, app, library } = await testApplication();
    const folder = join(app.appDir, "workflows");
    mkdirSync(folder);
    const shown = workflow({
      open: using("open_terminal", { shell: "bash --norc", environment: { WHO: "{who}" } }, [
        when({ success: true }, "close"),
      ]),
      close: using("exit_terminal", { session_id: "{session_id}" }),
    });
    await library.save({ ...shown, name: "closing" }, { states: 2 });
    writeFileSync(
      join(folder, "steps.yaml"),
      `name: steps
steps:
  - {id: open, type: terminal, tool: open_terminal, params: {shell: "bash --norc", environment: {WHO: "{input.who}"}}}
  - {id: say, type: terminal, tool: send_input, depends_on: [open],
     params: {session_id: "{steps.open.output.session_id}", input_text: "echo hi-$WHO\\n"}}
  - {id: wait, type: terminal, tool: await_output, depends_on: [say],
     params: {session_id: "{steps.open.output.session_id}", pattern: 'hi-A\\w+', timeout: 20}}
  - {id: child, type: sub_workflow, sub_workflow: {workflow: closing, input_mapping: {who: input.who}}, depends_on: [wait]}
`,
    );
    writeFileSync(
      join(folder, "calling.yaml"),
      `workflowId: calling
startAt: call
steps:
  call:
    type: control
    subtype: subworkflow
    workflowId: closing
    inputMapping: {who: trigger.payload.who}
    transitions: {onSuccess: answer}
  answer: {type: control, subtype: formatResponse, data: {closed: steps.call.output}}
`,
    );
    writeFileSync(
      join(folder, "typing.yaml"),
      `workflowId: typing
startAt: open
maxSteps: 10
steps:
  open:
    type: mcp
    target: core.terminal.open_terminal
    inputMapping: {shell: "'bash --norc'"}
    transitions: {onSuccess: say}
  say:
    type: mcp
    target: {tool: core.terminal.send_input}
    inputMapping: {session_id: steps.open.output.session_id, input_text: trigger.payload.line}
    transitions: {onSuccess: wait}
  wait:
    type: mcp
    target: core.terminal.await_output
    inputMapping: {session_id: steps.open.output.session_id, pattern: "'hi-A[a-z]+'", timeout: "20"}
    transitions: [{condition: "steps.wait.output.match_text == 'hi-Ada'", nextStep: answer}, {nextStep: failed}]
  answer: {type: control, subtype: formatResponse, data: {seen: steps.wait.output.match_text}}
  failed: {type: control, subtype: formatResponse, data: {seen: "'nothing'"}}
`,
    );
    const initial_variables = { who: "Ada" };
    const typing = await run({
      workflow_name: "typing",
      initial_variables: { line: "echo hi-$((1+0))Ada | tr -d 1\n" },
      keep_sessions: false,
    });
    expect(typing).toMatchObject({ error: null, success: true });
    expect(JSON.stringify(typing.output)).toContain("hi-Ada");
    const steps = await run({ workflow_name: "steps", initial_variables, keep_sessions: false });
    expect(steps).toMatchObject({
      error: null,
      output: { wait: { match_text: "hi-Ada" }, child: { message: "Session destroyed" } },
    });
    const calling = await run({ workflow_name: "calling", initial_variables });
    expect(calling).toMatchObject({ error: null, success: true });
    expect(JSON.stringify(calling.output)).toContain("Session destroyed");
  },
  60 * SECONDS,
);

describe("a run", () => {
  const open = using("open_terminal", {}, [when(success, "wait")]);
  const wait = using("await_output", { session_id: "{session_id}", pattern: "never", timeout: 60 }, [
    when(success, "wait"),
  ]);
  const waits = workflow({ open, wait });

  async function sessionsLeft({ terminals }: Awaited<ReturnType<typeof testApplication>>): Promise<number> {
    await expect
      .poll(() => terminals.sessions.call("list_terminal_sessions", {}, { isInternal: true }))
      .toMatchObject({ total_sessions: 0 });
    return 0;
  }

  test(
    "that takes longer than it may fails, and its sessions are closed",
    async () => {
      const application = await testApplication();
      const result = await application.run({ workflow_definition: waits, execution_timeout: 5 });
      expect(result).toMatchObject({
        success: false,
        error: "Workflow execution timeout (5s) exceeded",
        final_state: "open",
        workflow_saved: false,
      });
      expect(await sessionsLeft(application)).toBe(0);
    },
    60 * SECONDS,
  );

  test(
    "outlives its request; a cancel ends it and closes its sessions",
    async () => {
      const application = await testApplication();
      const controller = new AbortController();
      const progress: WorkflowProgress[] = [];
      const result = await application.run(
        { workflow_definition: waits },
        {
          signal: controller.signal,
          progress: (each) => {
            progress.push(each);
            if (each.state === "wait") controller.abort();
          },
        },
      );
      expect(result).toMatchObject({ success: null, status: "running", error: null });
      const ended = await application.run({ run_id: result.run_id, cancel: true });
      expect(ended).toMatchObject({ success: false, status: "cancelled", error: "The run was cancelled." });
      expect(progress.map(({ states, maxStates, state: name }) => [states, maxStates, name])).toEqual([
        [1, 100, "open"],
        [2, 100, "wait"],
      ]);
      expect(await sessionsLeft(application)).toBe(0);
    },
    60 * SECONDS,
  );

  test(
    "that is not waited for goes on, and is saved when it succeeds",
    async () => {
      const { run, app, library } = await testApplication();
      const slow = workflow({
        open: using("open_terminal", {}, [when(success, "type")]),
        type: using("send_input", { session_id: "{session_id}", input_text: "sleep 1; echo do''ne\n" }, [
          when(success, "wait"),
        ]),
        wait: using("await_output", { session_id: "{session_id}", pattern: "done", timeout: 20 }, [
          when({ pattern_match: "done" }, "close"),
        ]),
        close: using("exit_terminal", { session_id: "{session_id}" }),
      });
      const early = await run({ workflow_definition: slow, wait_seconds: 0.1 });
      expect(early).toMatchObject({ success: null, status: "running", workflow_saved: false, error: null });
      expect(early.next).toContain(early.run_id);
      expect(await (await app.host()).settled(early.run_id ?? "")).toMatchObject({ status: "completed" });
      await expect.poll(() => library.list()).toHaveLength(1);
    },
    60 * SECONDS,
  );

  test(
    "keeps its sessions after a success, unless it is told not to",
    async () => {
      const application = await testApplication();
      const opens = workflow({ open: using("open_terminal", {}) });
      const kept = await application.run({ workflow_definition: opens });
      expect(application.terminals.sessions.find(kept.session_id ?? "")).toBeDefined();
      const closed = await application.run({ workflow_definition: opens, keep_sessions: false });
      await expect.poll(() => application.terminals.sessions.find(closed.session_id ?? "")).toBeUndefined();
    },
    60 * SECONDS,
  );

  test(
    "owns the sessions of the workflows that it calls, though they fail",
    async () => {
      const application = await testApplication();
      const child = workflow(
        { open: using("open_terminal", {}, [when({ success: false }, "open")]) },
        { name: "child" },
      );
      const parent = workflow({
        sub: using("run_workflow", { workflow_definition: child }, [when({ success: false }, "look")]),
        look: using("get_screen_content", { session_id: "{session_id}" }),
      });
      const result = await application.run({ workflow_definition: parent });
      expect(result).toMatchObject({
        success: true,
        final_state: "look",
        execution_log: [{}, { result: { success: true } }],
      });
      expect(application.terminals.sessions.find(result.session_id ?? "")).toBeDefined();
    },
    60 * SECONDS,
  );

  test(
    "of a thousand states with full screens has an answer of bounded size",
    async () => {
      const { run } = await testApplication();
      const states = {
        open: using("open_terminal", {}, [when(success, "fill")]),
        fill: using("send_input", { session_id: "{session_id}", input_text: "seq 1 2000 | xargs echo\n" }, [
          when(success, "look"),
        ]),
        look: using("get_screen_content", { session_id: "{session_id}" }, [when(success, "look")]),
      };
      const result = await run({ workflow_definition: workflow(states), max_states: 1_000 });
      expect(result).toMatchObject({ success: false, states_executed: 1_000 });
      expect(JSON.stringify(result).length).toBeLessThan(16 * 1024 * 1024);
    },
    120 * SECONDS,
  );
});
