import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { readRunWorkflowRequest } from "../../src/operations/terminals/run-workflow-tool.ts";
import { state, using, when, workflow } from "./terminal-world.ts";
import { testApplication } from "./test-application.ts";

const success = { success: true };
const failure = { success: false };
const SECONDS = 1_000;

const simple = workflow(
  {
    create_session: using("open_terminal", { shell: "bash" }, [when(success, "send_command")]),
    send_command: using("send_input", { session_id: "{session_id}", input_text: "echo 'test'\n" }, [
      when(success, "cleanup"),
    ]),
    cleanup: using("exit_terminal", { session_id: "{session_id}" }),
  },
  { name: "test_simple", description: "Simple test workflow" },
);

/** The tests that the requirement lists, against real terminals. */
describe("as the requirement tests it", () => {
  test(
    "an inline workflow is executed",
    async () => {
      const { run, library } = await testApplication();
      const result = await run({ workflow_definition: simple, save_on_success: false });
      expect(result).toMatchObject({
        success: true,
        states_executed: 3,
        final_state: "cleanup",
        workflow_saved: false,
        error: null,
      });
      expect(result.final_variables).toHaveProperty("session_id");
      expect(result.execution_log).toHaveLength(3);
      expect(await library.list()).toEqual([]);
    },
    60 * SECONDS,
  );

  test(
    "a successful workflow is saved",
    async () => {
      const { run, app } = await testApplication();
      const result = await run({ workflow_definition: simple });
      expect(result).toMatchObject({
        success: true,
        workflow_saved: true,
        saved_workflow_name: "test_simple",
        available_workflows: ["test_simple"],
      });
      const file = join(app.appDir, ".terminal_control_workflows", "test_simple.json");
      expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
        definition: simple,
        metadata: { success_count: 1, total_states: 3 },
      });
    },
    60 * SECONDS,
  );

  test(
    "a saved workflow is run by its name",
    async () => {
      const { run, library } = await testApplication();
      await library.save(simple, { states: 3 });
      const result = await run({ workflow_name: "test_simple" });
      expect(result).toMatchObject({
        success: true,
        states_executed: 3,
        final_state: "cleanup",
        workflow_saved: false,
        saved_workflow_name: null,
      });
      expect((await library.list()).map(({ successCount }) => successCount)).toEqual([2]);
    },
    60 * SECONDS,
  );

  test(
    "a workflow calls another one",
    async () => {
      const { run, library } = await testApplication();
      await library.save(workflow({ simple_action: state() }, { name: "child_workflow" }), { states: 1 });
      const parent = workflow({
        call_child: using("run_workflow", { workflow_name: "child_workflow" }, [when(success, "complete")]),
        complete: using("open_terminal", { shell: "bash" }),
      });
      const result = await run({ workflow_definition: parent, save_on_success: false });
      expect(result).toMatchObject({ success: true, recursion_depth: 1, final_state: "complete" });
      expect(result.execution_log[0]).toMatchObject({
        tool: "run_workflow",
        params: { workflow_name: "child_workflow", initial_variables: {} },
        result: {
          success: true,
          final_state: "simple_action",
          states_executed: 1,
          recursion_depth: 0,
          execution_log: [{ state: "simple_action" }],
        },
        variables_after: { workflow_final_state: "simple_action", call_child_success: "true" },
      });
    },
    60 * SECONDS,
  );

  test.each([
    ["bash", "success_path"],
    ["no-such-shell", "failure_path"],
  ])(
    "a workflow branches on success and failure: with %s to %s",
    async (shell, final_state) => {
      const { run } = await testApplication();
      const branching = workflow({
        test_command: using("open_terminal", { shell }, [when(success, "success_path"), when(failure, "failure_path")]),
        success_path: using("send_input", { session_id: "{session_id}", input_text: "echo 'success'\n" }),
        failure_path: state(),
      });
      expect(await run({ workflow_definition: branching })).toMatchObject({ success: true, final_state });
    },
    60 * SECONDS,
  );

  test(
    "a loop goes on until what the terminal shows ends it",
    async () => {
      const { run } = await testApplication();
      const counts = workflow({
        open: using("open_terminal", {}, [when(success, "count")]),
        count: using("send_input", { session_id: "{session_id}", input_text: "echo n=$((n += 1))\n" }, [
          when(success, "look"),
        ]),
        look: using("await_output", { session_id: "{session_id}", pattern: "n=\\d+" }, [
          when({ field_equals: { match_text: "n=3" } }, "close"),
          when(success, "count"),
        ]),
        close: using("exit_terminal", { session_id: "{session_id}" }),
      });
      const result = await run({ workflow_definition: counts });
      expect(result).toMatchObject({ success: true, states_executed: 8, final_variables: { match_text: "n=3" } });
    },
    60 * SECONDS,
  );

  test("a loop without an end is stopped at the limit of states, which is a failure", async () => {
    const { run, library } = await testApplication();
    const loop = workflow({
      counter: state([when({ field_equals: { total_sessions: 0 } }, "counter"), when(success, "done")]),
      done: state(),
    });
    const result = await run({ workflow_definition: loop, max_states: 5 });
    expect(result).toMatchObject({
      success: false,
      states_executed: 5,
      final_state: "counter",
      error: "Maximum states limit (5) reached - possible infinite loop",
      workflow_saved: false,
    });
    expect(await library.list()).toEqual([]);
  });

  test(
    "a state that times out goes where on_timeout says",
    async () => {
      const { run } = await testApplication();
      const timeout = workflow({
        open: using("open_terminal", {}, [when(success, "long_wait")]),
        long_wait: using(
          "await_output",
          { session_id: "{session_id}", pattern: "never_matches", timeout: 30 },
          [when(success, "normal_complete")],
          { timeout: 0.5, on_timeout: "timeout_recovery" },
        ),
        timeout_recovery: state(),
        normal_complete: state(),
      });
      const result = await run({ workflow_definition: timeout });
      expect(result).toMatchObject({ success: true, final_state: "timeout_recovery" });
      expect(result.execution_log[1]?.result).toEqual({
        success: false,
        error: "State 'long_wait' timed out after 0.5s",
        error_code: "TIMEOUT",
        timeout_occurred: true,
      });
      expect(result.final_variables).toMatchObject({
        long_wait_timeout_occurred: "true",
        error: "State 'long_wait' timed out after 0.5s",
      });
    },
    60 * SECONDS,
  );

  test(
    "variables are taken from results and put into parameters",
    async () => {
      const { run } = await testApplication();
      const variables = workflow({
        create_terminal: using("open_terminal", { shell: "bash" }, [when(success, "use_session_id")]),
        use_session_id: using("get_screen_content", { session_id: "{session_id}", content_mode: "screen" }),
      });
      const result = await run({ workflow_definition: variables, initial_variables: { custom_var: "custom_value" } });
      expect(result.final_variables).toMatchObject({
        custom_var: "custom_value",
        session_id: result.session_id,
        success: "true",
      });
      expect(JSON.stringify(result.execution_log[1]?.params)).not.toContain("{session_id}");
      expect(result.execution_log[0]?.variables_after).toHaveProperty("create_terminal_shell", "bash");
    },
    60 * SECONDS,
  );

  test("a definition with a mistake is answered, not run", async () => {
    const { run } = await testApplication();
    const result = await run({
      workflow_definition: workflow({ valid_state: state() }, { initial_state: "nonexistent_state" }),
    });
    expect(result).toMatchObject({ success: false, final_state: "error", states_executed: 0, run_id: null });
    expect(result.error).toMatch(/^Initial state 'nonexistent_state' not found in states \(line 3, column 20\)/);
  });

  test.each<[JsonObject, string]>([
    [{}, "Either 'workflow_definition' or 'workflow_name' must be provided"],
    [
      { workflow_definition: null, workflow_name: null },
      "Either 'workflow_definition' or 'workflow_name' must be provided",
    ],
    [
      { workflow_definition: {}, workflow_name: "x" },
      "Provide either 'workflow_definition' OR 'workflow_name', not both",
    ],
    [{ workflow_definition: "x" }, "`workflow_definition` must be a map."],
    [{ workflow_name: 5 }, "`workflow_name` must be a text."],
    [{ workflow_name: "x", max_states: 0 }, "`max_states` must be a whole number from 1 to 1000."],
    [{ workflow_name: "x", max_states: 1_001 }, "`max_states` must be a whole number from 1 to 1000."],
    [{ workflow_name: "x", max_states: 1.5 }, "`max_states` must be a whole number from 1 to 1000."],
    [{ workflow_name: "x", execution_timeout: 0.5 }, "`execution_timeout` must be a number from 1 to 7200."],
    [{ workflow_name: "x", execution_timeout: true }, "`execution_timeout` must be a number from 1 to 7200."],
    [{ workflow_name: "x", initial_variables: { a: 1 } }, "`initial_variables.a` must be a text."],
    [{ workflow_name: "x", initial_variables: [] }, "`initial_variables` must be a map."],
    [{ workflow_name: "x", save_on_success: "yes" }, "`save_on_success` must be true or false."],
    [{ workflow_name: "x", wait_seconds: -1 }, "`wait_seconds` must be a number from 0 to 7200."],
  ])("the request %j is refused: %s", (request, message) => {
    expect(() => readRunWorkflowRequest(request)).toThrow(
      expect.objectContaining({ code: "REQUEST_INVALID", message }),
    );
  });

  test("a request has the defaults of the requirement", () => {
    expect(readRunWorkflowRequest({ workflow_name: "x" })).toEqual({
      source: { name: "x" },
      initialVariables: {},
      maxStates: 100,
      executionTimeoutSeconds: 1_800,
      saveOnSuccess: true,
      keepSessions: true,
      waitSeconds: undefined,
    });
  });

  test.each<[string, JsonObject, string]>([
    ["an unknown tool", using("invalid_tool", {}), "`tool` cannot be `invalid_tool`; it is one of open_terminal,"],
    ["an unknown key", state([], { retries: 3 }), "`retries` means nothing in `states.start`."],
    ["a time-out that is too long", state([], { timeout: 301 }), "`timeout` must be a number from 0.1 to 300."],
    ["an unknown target", state([when(success, "gone")]), "State 'start' references non-existent state 'gone'"],
  ])("a definition with %s is not valid", async (_, start, error) => {
    const { run } = await testApplication();
    const result = await run({ workflow_definition: workflow({ start }) });
    expect(result).toMatchObject({ success: false, states_executed: 0, run_id: null });
    expect(result.error?.slice(0, error.length)).toBe(error);
  });

  test("a definition of which a state cannot be reached is valid", async () => {
    const { run } = await testApplication();
    const result = await run({ workflow_definition: workflow({ start: state(), lonely: state() }) });
    expect(result).toMatchObject({ success: true, final_state: "start", error: null });
  });

  test("what was saved is loaded as it was", async () => {
    const { run, library } = await testApplication();
    const saved = workflow({ start: state() }, { name: "kept", description: "With {braces} and 'quotes' é" });
    await run({ workflow_definition: saved });
    expect(await library.load("kept")).toEqual(saved);
  });

  test("what is saved already is not saved under another name", async () => {
    const { run, library } = await testApplication();
    const twice = workflow({ start: state() }, { name: "first" });
    expect(await run({ workflow_definition: twice })).toMatchObject({ saved_workflow_name: "first" });
    expect(await run({ workflow_definition: { ...twice, name: "second" } })).toMatchObject({
      success: true,
      workflow_saved: false,
      saved_workflow_name: null,
      available_workflows: ["first"],
    });
    expect(await library.list()).toHaveLength(1);
  });

  test("every answer lists what is saved", async () => {
    const { run } = await testApplication();
    await run({ workflow_definition: workflow({ start: state() }, { name: "workflow1" }) });
    await run({ workflow_definition: workflow({ begin: state() }, { name: "workflow2" }) });
    const { available_workflows } = await run({ workflow_name: "neither" });
    expect(available_workflows).toEqual(["workflow1", "workflow2"]);
  });
});

/** What its last chapter lists, as far as no other test shows it. */
describe("at the edges", () => {
  test("saved workflows that call each other stop at five levels", async () => {
    const { run, library } = await testApplication();
    const calls = (name: string, other: string) =>
      workflow({ [`in_${name}`]: using("run_workflow", { workflow_name: other }) }, { name });
    await library.save(calls("ping", "pong"), { states: 1 });
    await library.save(calls("pong", "ping"), { states: 1 });
    const result = await run({ workflow_name: "ping" });
    expect(result).toMatchObject({ success: true, recursion_depth: 5 });
    expect(JSON.stringify(result.execution_log)).toContain("Maximum recursion depth (5) exceeded");
  });

  test("a damaged file of the library fails its own workflow only, and stays as it is", async () => {
    const { run, app, library } = await testApplication();
    await library.save(workflow({ start: state() }, { name: "whole" }), { states: 1 });
    const file = join(app.appDir, ".terminal_control_workflows", "half.json");
    writeFileSync(file, '{"definition": {"name": "half"');
    const result = await run({ workflow_name: "half" });
    expect(result).toMatchObject({ success: false, final_state: "error", available_workflows: ["whole"] });
    expect(result.error).toContain("half.json holds no saved workflow.");
    expect(await run({ workflow_name: "whole" })).toMatchObject({ success: true });
    expect(readFileSync(file, "utf8")).toBe('{"definition": {"name": "half"');
  });

  test("runs at the same time save a workflow once, and others of its name with a number", async () => {
    const { run, app, library } = await testApplication();
    const same = workflow({ start: state() }, { name: "one" });
    const other = workflow({ begin: state() }, { name: "one" });
    const requests = [same, same, same, other].map((workflow_definition) => ({ workflow_definition }));
    const results = await Promise.all(requests.map((request) => run(request)));
    expect(results.filter(({ workflow_saved }) => workflow_saved)).toHaveLength(2);
    expect((await library.list()).map(({ name }) => name).sort()).toEqual(["one", "one_2"]);
    const files = readdirSync(join(app.appDir, ".terminal_control_workflows")).filter((name) => name.endsWith(".json"));
    expect(files.sort()).toEqual(["index.json", "one.json", "one_2.json"]);
  });

  test(
    "the terminals of a run that fails are closed, with the programs in them",
    async () => {
      const { run, terminals, library } = await testApplication();
      const result = await run({
        workflow_definition: workflow({
          open: using("open_terminal", {}, [when(success, "type")]),
          type: using("send_input", { session_id: "{session_id}", input_text: "echo pid=$$\n" }, [
            when(success, "look"),
          ]),
          look: using("await_output", { session_id: "{session_id}", pattern: "pid=\\d+" }, [when(failure, "look")]),
        }),
      });
      expect(result).toMatchObject({ success: false, final_state: "look", workflow_saved: false });
      expect(result.error).toBe('No transition of "look" holds.');
      expect(await library.list()).toEqual([]);
      const pid = Number(result.final_variables["match_text"]?.slice("pid=".length));
      expect(pid).toBeGreaterThan(0);
      await expect.poll(() => isRunning(pid)).toBe(false);
      expect(terminals.sessions.find(result.session_id ?? "")).toBeUndefined();
    },
    60 * SECONDS,
  );

  test(
    "a tool that fails is a result that a transition answers, and the workflow succeeds",
    async () => {
      const { run } = await testApplication({}, { level: "high" });
      const result = await run({
        workflow_definition: workflow({
          absent: using("open_terminal", { shell: "zsh -x", working_directory: "no/such/folder" }, [
            when({ success: false, field_contains: { error: "does not exist" } }, "nobody"),
          ]),
          nobody: using("send_input", { session_id: "nonexistent", input_text: "x" }, [
            when({ field_equals: { success: false, message: "Session not found" } }, "refused"),
          ]),
          refused: using("open_terminal", { shell: "env" }, [
            when({ field_equals: { error_code: "TERMINAL_REFUSED" } }, "recovered"),
          ]),
          recovered: state(),
        }),
      });
      expect(result).toMatchObject({ success: true, final_state: "recovered", error: null });
    },
    60 * SECONDS,
  );

  test(
    "there are no more terminals than allowed, which is a result too",
    async () => {
      const { run } = await testApplication({}, { maxSessions: 2 });
      const result = await run({
        workflow_definition: workflow({
          open: using("open_terminal", {}, [when(success, "open"), when(failure, "full")]),
          full: state(),
        }),
      });
      expect(result).toMatchObject({ success: true, states_executed: 4, final_variables: { total_sessions: "2" } });
      expect(result.final_variables["error"]).toContain('rejected by the rule "sessions"');
    },
    60 * SECONDS,
  );

  test("a definition of more states than allowed is refused", async () => {
    const { run } = await testApplication();
    const states = Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`s${n}`, state()]));
    const result = await run({ workflow_definition: workflow(states) });
    expect(result.error).toMatch(/^`states` has 101 entries; 100 are allowed/);
  });

  test(
    "the time of a tool, of a state and of the workflow end in a result, a transition and a failure",
    async () => {
      const { run } = await testApplication();
      const wait = (timeout: number) => ({ session_id: "{session_id}", pattern: "never", timeout });
      const result = await run({
        workflow_definition: workflow({
          open: using("open_terminal", {}, [when(success, "of_tool")]),
          of_tool: using("await_output", wait(0.1), [
            when({ success: true, timeout_occurred: false, field_equals: { match_text: null } }, "of_state"),
          ]),
          of_state: using("await_output", wait(60), [when({ timeout_occurred: true }, "of_workflow")], {
            timeout: 0.2,
          }),
          of_workflow: using("await_output", wait(60), [when(success, "open")], { on_timeout: "open" }),
        }),
        execution_timeout: 3,
      });
      expect(result).toMatchObject({
        success: false,
        final_state: "of_state",
        error: "Workflow execution timeout (3s) exceeded",
      });
      expect(result.execution_log.map(({ state: name, result: { success: ok = null } }) => [name, ok])).toEqual([
        ["open", true],
        ["of_tool", true],
        ["of_state", false],
      ]);
    },
    60 * SECONDS,
  );

  test(
    "a workflow inside has what it is given and leaves nothing behind, but types into the terminal it was given",
    async () => {
      const { run, library } = await testApplication();
      const child = workflow(
        {
          say: using("send_input", { session_id: "{into}", input_text: "echo '[{what}|{who}|{session_id}]'\n" }, [
            when(success, "heard"),
          ]),
          heard: using("await_output", { session_id: "{into}", pattern: "^\\[.*\\]$" }),
        },
        { name: "child" },
      );
      await library.save(child, { states: 2 });
      const given = { into: "{session_id}", what: "given" };
      const result = await run({
        workflow_definition: workflow({
          open: using("open_terminal", {}, [when(success, "sub")]),
          sub: using("run_workflow", { workflow_name: "child", initial_variables: given }, [when(success, "look")]),
          look: using("get_screen_content", { session_id: "{session_id}" }, [
            // The prompt that ends the line may still be on its way.
            when({ pattern_match: "\n\\[given\\|\\{who\\}\\|\\{session_id\\}\\](?:\n|$)" }, "tell"),
          ]),
          tell: using("run_workflow", { workflow_name: "{what}{match_text}" }),
        }),
        initial_variables: { who: "parent" },
      });
      expect(result).toMatchObject({ success: true, final_state: "tell" });
      expect(result.final_variables["error"]).toContain("{what}{match_text}");
    },
    60 * SECONDS,
  );

  test(
    "every standard variable comes from the tool that gives it",
    async () => {
      const { run } = await testApplication();
      const session = { session_id: "{session_id}" };
      const child = workflow({ only: state() }, { name: "child" });
      const result = await run({
        workflow_definition: workflow({
          open: using("open_terminal", { shell: "bash" }, [when(success, "type")]),
          type: using("send_input", { ...session, input_text: "echo $((6 * 7))\n" }, [when(success, "wait")]),
          wait: using("await_output", { ...session, pattern: "^42" }, [when(success, "look")]),
          look: using("get_screen_content", session, [when(success, "list")]),
          list: using("list_terminal_sessions", {}, [when(success, "close")]),
          close: using("exit_terminal", session, [when(success, "fail")]),
          fail: using("send_input", { ...session, input_text: "x" }, [when(failure, "sub")]),
          sub: using("run_workflow", { workflow_definition: child }, [when(success, "end")]),
          end: state(),
        }),
      });
      // Without a live view there is no `web_url`: what is null sets nothing.
      expect(result.final_variables).toMatchObject({
        success: "true",
        session_id: result.execution_log[0]?.result["session_id"],
        match_text: "42",
        screen_content: expect.stringContaining("\n42\n"),
        error: expect.stringContaining("There is no session"),
        timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
        elapsed_time: expect.stringMatching(/^[\d.]+/),
        shell: "bash",
        process_running: "false",
        total_sessions: "0",
        message: "Session not found",
        workflow_final_state: "only",
        workflow_saved: "false",
        sub_final_state: "only",
        look_process_running: "true",
        close_message: "Session destroyed",
        list_total_sessions: "1",
      });
      expect(result.final_variables).not.toHaveProperty("web_url");
    },
    60 * SECONDS,
  );
});

describe("a value that is put in", () => {
  const HOSTILE = [
    "{",
    "}{{session_id}}",
    `'"\`$(id)\${HOME}; exit 1 #`,
    "\\d+(a|[b])*{2}^$.?\\Q",
    "$HOME !! ~ * && | > /dev/null",
    "\u0003\u0004\u001b[2J\u001b]0;title\u0007\u007f\b\r\n\t\u0085\u2028",
    "\\x03\\n\\0 ünï 😀",
    "__proto__",
  ];
  const variables = Object.fromEntries(HOSTILE.map((value, n) => [`v${n}`, value]));
  const typed = HOSTILE.filter((value) => !value.includes("\\"));

  test(
    "reaches a program byte for byte in its environment",
    async () => {
      const { run } = await testApplication();
      const result = await run({
        workflow_definition: workflow({
          open: using(
            "open_terminal",
            { environment: Object.fromEntries(HOSTILE.map((_, n) => [`V${n}`, `<{v${n}}>`])) },
            [when(success, "hash")],
          ),
          hash: using("send_input", { session_id: "{session_id}", input_text: `${HASH_OF_ENVIRONMENT}\n` }, [
            when(success, "look"),
          ]),
          look: using("await_output", { session_id: "{session_id}", pattern: "[0-9a-f]{64}" }, [
            when({ field_equals: { match_text: "{expected}" } }, "right"),
          ]),
          right: state(),
        }),
        initial_variables: { ...variables, expected: hashOf(HOSTILE.map((value, n) => `V${n}=<${value}>\0`).join("")) },
        save_on_success: false,
      });
      expect(result).toMatchObject({ error: null, final_state: "right" });
      expect(result.final_variables).toMatchObject(variables);
    },
    60 * SECONDS,
  );

  test(
    "is typed as it is, also when it comes from a terminal",
    async () => {
      const { run } = await testApplication();
      const session = { session_id: "{session_id}" };
      const sent = `{who}${typed.join("")}{who}`;
      const read = `stty raw -echo; echo rea''dy; head -c ${Buffer.byteLength(sent)} > typed; stty sane; echo; sha256sum typed`;
      const parts = HOSTILE.flatMap((value, n) => (typed.includes(value) ? [`{v${n}}`] : [])).join("");
      const result = await run({
        workflow_definition: workflow({
          open: using("open_terminal", {}, [when(success, "braces")]),
          braces: using("send_input", { ...session, input_text: "echo '{'who'}'\n" }, [when(success, "shown")]),
          shown: using("await_output", { ...session, pattern: "\\{who\\}" }, [when(success, "read")]),
          read: using("send_input", { ...session, input_text: `${read}\n` }, [when(success, "ready")]),
          ready: using("await_output", { ...session, pattern: "ready" }, [when(success, "type")]),
          type: using("send_input", { ...session, input_text: `{shown_match_text}${parts}{shown_match_text}` }, [
            when(success, "look"),
          ]),
          look: using("await_output", { ...session, pattern: "[0-9a-f]{64}" }),
        }),
        initial_variables: { ...variables, who: "nobody" },
        save_on_success: false,
      });
      expect(result).toMatchObject({ error: null, final_variables: { match_text: hashOf(sent) } });
    },
    60 * SECONDS,
  );

  test(
    "stands in a pattern for exactly itself",
    async () => {
      const { run } = await testApplication();
      const value = "\\d+(a|[b])*{2}^$.?\\Q\"'`";
      const shows = (text: string) =>
        workflow({
          open: using("open_terminal", { environment: { SHOWN: text } }, [when(success, "show")]),
          show: using("send_input", { session_id: "{session_id}", input_text: 'printf "<%s>\\\\n" "$SHOWN"\n' }, [
            when(success, "look"),
          ]),
          look: using("await_output", { session_id: "{session_id}", pattern: "<{value}>", timeout: 1 }, [
            when({ pattern_match: "<{value}>", field_equals: { match_text: "<{value}>" } }, "found"),
            when({ pattern_not_match: "<{value}>" }, "absent"),
          ]),
          found: state(),
          absent: state(),
        });
      const [found, absent] = await Promise.all(
        ["{value}", "1aa"].map((shown) =>
          run({ workflow_definition: shows(shown), initial_variables: { value }, save_on_success: false }),
        ),
      );
      expect([found?.final_state, absent?.final_state]).toEqual(["found", "absent"]);
    },
    60 * SECONDS,
  );

  test.each<[string, string, JsonObject, string]>([
    [
      "the environment",
      "open_terminal",
      { environment: { V: "{huge}" } },
      "The environment variable 'V' is too long: 1048578 bytes",
    ],
    ["a folder", "open_terminal", { working_directory: "{huge}" }, "The working directory"],
    ["a shell", "open_terminal", { shell: "{huge}" }, "Shell 'xxx"],
    ["typed text", "send_input", { session_id: "{session_id}", input_text: "{huge}" }, "Security violation"],
    ["a pattern", "await_output", { session_id: "{session_id}", pattern: "{huge}" }, "Invalid pattern: it is longer"],
    ["an argument", "open_terminal", { shell: "bash {huge}" }, "An argument of the shell is too long"],
    ["a session", "get_screen_content", { session_id: "{huge}" }, "Session not found"],
    ["a name", "run_workflow", { workflow_name: "{huge}" }, "No workflow"],
  ])(
    "of a megabyte in %s is a result",
    async (_, tool, params, error) => {
      const { run, app } = await testApplication();
      const result = await run({
        workflow_definition: workflow({
          open: using("open_terminal", {}, [when(success, "use")]),
          use: using(tool, params, [when(failure, "end")]),
          end: using("exit_terminal", { session_id: "{open_session_id}" }),
        }),
        initial_variables: { huge: "x".repeat(1024 * 1024) },
        save_on_success: false,
      });
      expect({ ...result, execution_log: [], final_variables: {} }).toMatchObject({
        success: true,
        final_state: "end",
      });
      expect(result.final_variables["use_error"]?.slice(0, error.length)).toBe(error);
      expect(readdirSync(app.appDir)).toEqual([]);
    },
    60 * SECONDS,
  );
});

const HASH_OF_ENVIRONMENT = "env -0 | grep -z '^V[0-9]=' | LC_ALL=C sort -z | sha256sum";

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
