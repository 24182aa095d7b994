import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { run, state, using, when, workflow } from "./terminal-world.ts";

const done = state();

/** Where a state goes, given its result and its transitions to `yes` and `no`. */
async function target(condition: JsonObject, result: Json, more: JsonObject = {}): Promise<string> {
  const { paths } = await run(
    workflow({
      a: state([when(condition, "yes"), when({ success: true }, "no"), when({ success: false }, "no")], more),
      yes: done,
      no: done,
    }),
    { a: result as JsonObject },
  );
  return paths.at(-1)?.replace("#1", "") ?? "";
}

describe("a condition", () => {
  const screen = { success: true, screen_content: "$ npm test\n3 passing", match_text: "3 passing" };
  test.each<[JsonObject, Json, string]>([
    [{ success: true }, { success: true }, "yes"],
    [{ success: true }, { success: false }, "no"],
    [{ success: false }, { success: false }, "yes"],
    [{ pattern_match: "passing" }, screen, "yes"],
    [{ pattern_match: "^3 passing \\$ npm test" }, screen, "yes"],
    [{ pattern_match: "passing$" }, { ...screen, screen_content: "3 passing\n$ " }, "yes"],
    [{ pattern_match: "^3 pass" }, { ...screen, match_text: null }, "yes"],
    [{ pattern_not_match: "test$" }, screen, "no"],
    [{ pattern_match: "failing" }, screen, "no"],
    [{ pattern_match: "^.npm" }, { success: true, screen_content: "npm" }, "yes"],
    [{ pattern_match: "^done$" }, { success: true, match_text: "done", screen_content: "" }, "yes"],
    [{ pattern_match: "x" }, { success: true }, "no"],
    [{ pattern_not_match: "failing" }, screen, "yes"],
    [{ pattern_not_match: "passing" }, screen, "no"],
    [{ pattern_not_match: "x" }, { success: true, match_text: null, screen_content: null }, "yes"],
    [{ pattern_match: "\\d{1} pass" }, screen, "yes"],
    [{ field_equals: { total_sessions: 0 } }, { success: true, total_sessions: 0 }, "yes"],
    [{ field_equals: { total_sessions: "0" } }, { success: true, total_sessions: 0 }, "no"],
    [{ field_equals: { total_sessions: 0, success: true } }, { success: true, total_sessions: 0 }, "yes"],
    [{ field_equals: { total_sessions: 0, success: false } }, { success: true, total_sessions: 0 }, "no"],
    [{ field_equals: { match_text: null } }, { success: true, match_text: null }, "yes"],
    [{ field_equals: { match_text: null } }, { success: true }, "yes"],
    [{ field_equals: { nested: { a: [1] } } }, { success: true, nested: { a: [1] } }, "yes"],
    [{ field_equals: { success: 1 } }, { success: true }, "no"],
    [{ field_contains: { shell: "ba" } }, { success: true, shell: "bash" }, "yes"],
    [{ field_contains: { shell: "zsh" } }, { success: true, shell: "bash" }, "no"],
    [{ field_contains: { success: "ru" } }, { success: true }, "yes"],
    [{ field_contains: { total_sessions: 1 } }, { success: true, total_sessions: 21 }, "yes"],
    [
      { field_contains: { sessions: "session_ab" } },
      { success: true, sessions: [{ session_id: "session_ab" }] },
      "yes",
    ],
    [{ field_contains: { missing: "" } }, { success: true }, "yes"],
    [{ field_contains: { error: "None" } }, { success: true, error: null }, "no"],
    [{ timeout_occurred: true }, { success: true }, "no"],
    [{ timeout_occurred: false }, { success: true }, "yes"],
    [{ timeout_occurred: true }, "timeout", "yes"],
    [{ timeout_occurred: false }, "timeout", "no"],
    [{ success: false }, "timeout", "yes"],
    [{ field_contains: { error: "State 'a' timed out after 30s" } }, "timeout", "yes"],
    [{ field_equals: { timeout_occurred: true } }, "timeout", "yes"],
    [{ pattern_not_match: "x" }, "timeout", "yes"],
    [{ field_equals: { error_code: "SESSION_LOST" } }, "lost", "yes"],
    [{ field_contains: { error: "gone" } }, "lost", "yes"],
    [{ success: true, pattern_match: "passing", field_contains: { match_text: "3" } }, screen, "yes"],
    [{ success: true, pattern_match: "passing", field_contains: { match_text: "4" } }, screen, "no"],
    [{ pattern_match: "passing", pattern_not_match: "npm" }, screen, "no"],
  ])("%j on %j leads to %s", async (condition, result, expected) => {
    expect(await target(condition, result)).toBe(expected);
  });

  test("the first transition that holds is taken", async () => {
    const { paths } = await run(
      workflow({ a: state([when({ success: true }, "b"), when({ success: true }, "c")]), b: done, c: done }),
    );
    expect(paths).toEqual(["a#1", "b#1"]);
  });

  test("reads a screen of any size", async () => {
    const huge = { success: true, screen_content: `${"x".repeat(300_000)} END` };
    expect(await target({ pattern_match: "x END$" }, huge)).toBe("yes");
    expect(await target({ field_contains: { screen_content: "END" } }, huge)).toBe("yes");
  });
});

describe("the end of a workflow", () => {
  test.each<[string, Json]>([
    ["an empty list", []],
    ["no list", null],
  ])("%s of transitions ends in success, whatever the result", async (_, transitions) => {
    const a = {
      action: { tool: "list_terminal_sessions", params: {} },
      ...(transitions === null ? {} : { transitions }),
    };
    expect((await run(workflow({ a }), { a: { success: true } })).status).toBe("completed");
    expect((await run(workflow({ a }), { a: { success: false, error: "no" } })).status).toBe("completed");
    expect((await run(workflow({ a }), { a: "timeout" })).status).toBe("completed");
  });

  test("a list of which nothing holds fails the run", async () => {
    const { status, error } = await run(workflow({ a: state([when({ success: false }, "b")]), b: done }));
    expect([status, error?.code]).toEqual(["failed", "NO_TRANSITION"]);
  });

  test("a state that could not be done at all fails the run, unless a transition answers", async () => {
    expect((await run(workflow({ a: done }), { a: "lost" })).error?.code).toBe("SESSION_LOST");
    const answered = workflow({ a: state([when({ success: false }, "b")]), b: done });
    const { status, paths } = await run(answered, { a: "lost" });
    expect([status, paths]).toEqual(["completed", ["a#1", "b#1"]]);
  });
});

describe("a time-out", () => {
  const asked = when({ timeout_occurred: true }, "asked");
  const failed = when({ success: false }, "failed");
  const states = { asked: done, other: done, failed: done };
  test.each<[string, JsonObject, string]>([
    ["a transition that asks for it, though it stands last", state([failed, asked], { on_timeout: "other" }), "asked"],
    ["on_timeout before other transitions", state([failed], { on_timeout: "other" }), "other"],
    ["on_timeout without transitions", state([], { on_timeout: "other" }), "other"],
    ["a transition that holds anyway", state([failed]), "failed"],
  ])("follows %s", async (_, a, expected) => {
    const { paths, status } = await run(workflow({ a, ...states }), { a: "timeout" });
    expect([paths.at(-1), status]).toEqual([`${expected}#1`, "completed"]);
  });

  test("a transition that asks for it and for more is followed only if all of it holds", async () => {
    const a = state([when({ timeout_occurred: true, success: true }, "asked")], { on_timeout: "other" });
    expect((await run(workflow({ a, ...states }), { a: "timeout" })).paths.at(-1)).toBe("other#1");
  });

  test("that did not occur leads nowhere", async () => {
    const a = state([when({ success: true }, "failed"), asked], { on_timeout: "other" });
    expect((await run(workflow({ a, ...states }))).paths.at(-1)).toBe("failed#1");
  });

  test.each<[JsonObject, number]>([
    [state(), 30_000],
    [state([], { timeout: 0.5 }), 500],
    [using("await_output", { session_id: "s", pattern: "x" }), 30_000],
    [using("await_output", { session_id: "s", pattern: "x", timeout: 60 }), 65_000],
    [using("await_output", { session_id: "s", pattern: "x", timeout: "60.5" }), 65_500],
    [using("await_output", { session_id: "s", pattern: "x", timeout: "{t}" }), 3_605_000],
    [using("await_output", { session_id: "s", pattern: "x", timeout: 60 }, [], { timeout: 5 }), 5_000],
  ])("%j is given up after %d ms", async (a, timeoutMs) => {
    const { world } = await run(workflow({ a }));
    expect(world.calls[0]?.timeoutMs).toBe(timeoutMs);
  });
});

describe("the limit of states", () => {
  const loop = workflow({ a: state([when({ success: true }, "a")]) });

  test("a run that would need more fails with the words of the requirement", async () => {
    const { status, error, paths } = await run(loop, {}, { maxStates: 5 });
    expect([status, error?.message]).toEqual(["failed", "Maximum states limit (5) reached - possible infinite loop"]);
    expect(paths).toHaveLength(5);
  });

  test("a run that ends exactly there succeeds", async () => {
    const chain = workflow({ a: state([when({ success: true }, "b")]), b: done });
    expect((await run(chain, {}, { maxStates: 2 })).status).toBe("completed");
    expect((await run(chain, {}, { maxStates: 1 })).status).toBe("failed");
  });

  test("is 100 unless the request says otherwise", async () => {
    expect((await run(loop)).paths).toHaveLength(100);
  });
});

describe("variables", () => {
  const open = { success: true, session_id: "session_1", shell: "bash", screen_content: "$ ", error: null };

  async function typed(
    input_text: string,
    more: Parameters<typeof run>[2] = {},
    results: JsonObject = {},
  ): Promise<Json> {
    const states = {
      open: using("open_terminal", {}, [when({ success: true }, "type")]),
      type: using("send_input", { session_id: "{session_id}", input_text }),
    };
    const { paramsOf } = await run(workflow(states), { open, ...results } as never, more);
    return (paramsOf("type#1") as JsonObject)["input_text"] ?? null;
  }

  test.each<[string, string]>([
    ["{session_id}", "session_1"],
    ["{open_session_id} {open_shell}", "session_1 bash"],
    ["{success}", "true"],
    ["{who}!", "me!"],
    ["{shell}", "bash"],
    ["{unknown}", "{unknown}"],
    ["awk {print} {HOME} {} {1} { who }", "awk {print} {HOME} {} {1} { who }"],
    ["{error}", "{error}"],
    ["{{who}}", "{me}"],
    ["{count} {flag}", "7 false"],
  ])("%s becomes %s", async (text, expected) => {
    expect(await typed(text, { variables: { who: "me", count: 7, flag: false } })).toBe(expected);
  });

  test("what is put in is never expanded again", async () => {
    expect(await typed("{a}{b}", { variables: { a: "{b}", b: "{a}{session_id}" } })).toBe("{b}{a}{session_id}");
  });

  test("a state's own field goes before the standard variable, and that before an initial one", async () => {
    expect(await typed("{shell}", { variables: { shell: "initial" } })).toBe("bash");
    const states = {
      workflow: using("run_workflow", { workflow_name: "child" }, [when({ success: true }, "later")]),
      later: using("run_workflow", { workflow_name: "other" }, [when({ success: true }, "type")]),
      type: using("send_input", { session_id: "s", input_text: "{workflow_final_state} {later_final_state}" }),
    };
    const callable = { child: workflow({ first: done }), other: workflow({ second: done }) };
    const { paramsOf } = await run(workflow(states), {}, { callable });
    expect(paramsOf("type#1")).toMatchObject({ input_text: "first second" });
  });

  test("a result without the field leaves the variable as it was", async () => {
    const states = {
      wait: using("await_output", { session_id: "s", pattern: "x" }, [
        when({ field_equals: { match_text: "one" } }, "wait"),
        when({ success: true }, "type"),
      ]),
      type: using("send_input", { session_id: "s", input_text: "{match_text} {wait_match_text}" }),
    };
    const results = {
      wait: [
        { success: true, match_text: "one" },
        { success: true, match_text: null },
      ],
    };
    expect((await run(workflow(states), results)).paramsOf("type#1")).toMatchObject({ input_text: "one one" });
  });

  test("the latest state that has a field sets the standard variable", async () => {
    const states = {
      one: using("open_terminal", {}, [when({ success: true }, "two")]),
      two: using("open_terminal", {}, [when({ success: true }, "type")]),
      type: using("exit_terminal", { session_id: "{session_id} {one_session_id} {two_session_id}" }),
    };
    const results = { one: { success: true, session_id: "s1" }, two: { success: true, session_id: "s2" } };
    expect((await run(workflow(states), results)).paramsOf("type#1")).toEqual({ session_id: "s2 s1 s2" });
  });

  test("inside a regular expression a value is only itself", async () => {
    const hostile = "a.*(b|[c])\\d+{2}$^?/-é\n";
    const states = {
      a: using("await_output", { session_id: "s", pattern: "^{v}$" }, [
        when({ pattern_match: "^{v}x$" }, "b"),
        when({ success: true }, "c"),
      ]),
      b: done,
      c: done,
    };
    const { paths, paramsOf } = await run(
      workflow(states),
      { a: { success: true, match_text: `${hostile}x` } },
      { variables: { v: hostile } },
    );
    expect(paths).toEqual(["a#1", "b#1"]);
    expect((paramsOf("a#1") as JsonObject)["pattern"]).toBe(
      "^a\\.\\*\\(b\\|\\[c\\]\\)\\\\d\\+\\{2\\}\\$\\^\\?\\/\\-é\n$",
    );
    const other = await run(workflow(states), { a: { success: true, match_text: "abx" } }, { variables: { v: "a.*" } });
    expect(other.paths).toEqual(["a#1", "c#1"]);
  });

  test("conditions read the variables that their own state has just set", async () => {
    const states = {
      a: state([when({ field_equals: { message: "{match_text}" } }, "b"), when({ success: true }, "c")]),
      b: done,
      c: done,
    };
    const wait = {
      ...states,
      a: { ...states.a, action: { tool: "await_output", params: { session_id: "s", pattern: "x" } } },
    };
    expect((await run(workflow(wait), { a: { success: true, match_text: "m", message: "m" } })).paths.at(-1)).toBe(
      "b#1",
    );
  });

  test("an environment variable is read only where the configuration allows it", async () => {
    const host = { env: (name: string) => `value of ${name}` };
    const options = { envAllowed: ["TOKEN"] };
    expect(await typed("{env.TOKEN} {env.HOME}", { options, world: { host } })).toBe("value of TOKEN {env.HOME}");
  });

  test("values of every kind stay inert", async () => {
    const values = [
      "{",
      "}",
      '"',
      "'",
      "`$(id)`",
      "\u0000\u001b[31m",
      "__proto__",
      "constructor",
      "{session_id}",
      "x".repeat(1_000_000),
    ];
    for (const value of values) expect(await typed("<{v}>", { variables: { v: value } })).toBe(`<${value}>`);
  });

  test("a backslash in a value is typed as a backslash: escapes are keys only where the author wrote them", async () => {
    expect(await typed("{v}\\n", { variables: { v: "Ada\\necho injected" } })).toBe("Ada\\\\necho injected\\n");
  });

  test("keys and what is no text stay as they are", async () => {
    const params = { environment: { "{who}": "{who}", N: 5, L: ["{who}", null, true] } };
    const { paramsOf } = await run(workflow({ a: using("open_terminal", params) }), {}, { variables: { who: "me" } });
    expect(paramsOf("a#1")).toEqual({ environment: { "{who}": "me", N: 5, L: ["me", null, true] } });
  });
});

describe("a workflow inside a workflow", () => {
  const child = workflow(
    { open: using("open_terminal", {}, [when({ success: true }, "end")]), end: done },
    { name: "child" },
  );
  const open = { success: true, session_id: "session_9" };

  function calling(params: JsonObject, more: JsonObject = {}): JsonObject {
    return workflow({
      sub: using("run_workflow", params, [when({ success: true }, "good"), when({ success: false }, "bad")], more),
      good: using("send_input", {
        session_id: "{session_id}",
        input_text: "{workflow_final_state} {sub_states_executed} {sub_recursion_depth}",
      }),
      bad: using("send_input", {
        session_id: "{session_id}",
        input_text: "{error}|{workflow_final_state}|{sub_states_executed}",
      }),
    });
  }

  test("its result is read by conditions and variables, its session too", async () => {
    const { paths, paramsOf } = await run(calling({ workflow_name: "child" }), { open }, { callable: { child } });
    expect(paths).toEqual(["sub#1/open#1", "sub#1/end#1", "good#1"]);
    expect(paramsOf("good#1")).toEqual({ session_id: "session_9", input_text: "end 2 0" });
  });

  test("it may be written there, and its braces belong to it alone", async () => {
    const inner = workflow(
      { say: using("send_input", { session_id: "{session_id}", input_text: "{who}" }) },
      { name: "inner" },
    );
    const given = { workflow_definition: inner, initial_variables: { who: "{name}" } };
    const { paramsOf } = await run(
      calling(given),
      {},
      { variables: { name: "Ada", session_id: "mine", who: "outer" } },
    );
    expect(paramsOf("sub#1/say#1")).toEqual({ session_id: "{session_id}", input_text: "Ada" });
  });

  test("one that fails is a result, and its caller goes on", async () => {
    const broken = workflow(
      { open: using("open_terminal", {}, [when({ success: false }, "open")]) },
      { name: "child" },
    );
    const { status, paramsOf } = await run(
      calling({ workflow_name: "child" }),
      { open },
      { callable: { child: broken } },
    );
    expect(status).toBe("completed");
    expect(paramsOf("bad#1")).toEqual({ session_id: "session_9", input_text: 'No transition of "open" holds.|open|1' });
  });

  test("one that does not exist is a result", async () => {
    const { paramsOf } = await run(calling({ workflow_name: "{which}" }), {}, { variables: { which: "nobody" } });
    expect(paramsOf("bad#1")).toMatchObject({ input_text: 'No workflow "nobody".|error|0' });
  });

  test("it has limits of its own", async () => {
    const loop = workflow({ a: state([when({ success: true }, "a")]) }, { name: "child" });
    const callable = { child: loop };
    const three = await run(calling({ workflow_name: "child", max_states: 3 }), {}, { callable });
    expect(three.paramsOf("bad#1")).toMatchObject({
      input_text: "Maximum states limit (3) reached - possible infinite loop|a|3",
    });
    const wrong = await run(
      calling({ workflow_name: "child", max_states: "{n}" }),
      {},
      { callable, variables: { n: "0" } },
    );
    expect(wrong.paramsOf("bad#1")).toMatchObject({
      input_text: "`max_states` must be a whole number from 1 to 1000.|error|0",
    });
  });

  test("five levels are allowed, and the sixth is a result that says so", async () => {
    const again = workflow(
      { go: using("run_workflow", { workflow_name: "again" }, [when({ success: false }, "stop")]), stop: done },
      { name: "again" },
    );
    const { paths } = await run(calling({ workflow_name: "again" }), {}, { callable: { again } });
    expect(paths[0]).toBe("sub#1/go#1/go#1/go#1/go#1/stop#1");
    const told = workflow({
      sub: using("run_workflow", { workflow_name: "deep" }, [when({ success: true }, "tell")]),
      tell: using("exit_terminal", { session_id: "{sub_recursion_depth}" }),
    });
    const deep = workflow({ go: using("run_workflow", { workflow_name: "deep" }, []) }, { name: "deep" });
    expect((await run(told, {}, { callable: { deep } })).paramsOf("tell#1")).toEqual({ session_id: "4" });
  });

  test("at the limit the error names the circle", async () => {
    const calls = (name: string, other: string) =>
      workflow(
        {
          go: using("run_workflow", { workflow_name: other }, [
            when({ success: false }, "say"),
            when({ success: true }, "end"),
          ]),
          say: using("exit_terminal", { session_id: "{error}" }),
          end: done,
        },
        { name },
      );
    const [a, b] = [calls("a", "b"), calls("b", "a")];
    const { paths, paramsOf } = await run(a, {}, { callable: { a, b } });
    const told = paramsOf(paths[0] ?? "") as JsonObject;
    expect(told["session_id"]).toMatch(/^Maximum recursion depth \(5\) exceeded\. .*a > b > a > b > a > b\.$/);
  });
});
