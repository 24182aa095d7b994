import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../core/json.ts";
import { loadDefinition } from "../load-definition.ts";

const list = { action: { tool: "list_terminal_sessions", params: {} } };

const valid = {
  name: "valid",
  description: "Everything that there is",
  initial_state: "open",
  states: {
    open: {
      action: { tool: "open_terminal", params: { shell: "bash", environment: { A: "b" } } },
      transitions: [
        { condition: { success: true }, next_state: "wait" },
        { condition: { success: false, field_contains: { error: "x" } }, next_state: "call" },
      ],
      timeout: 5.5,
      on_timeout: "call",
    },
    wait: {
      action: { tool: "await_output", params: { session_id: "{session_id}", pattern: "a|b{2}", timeout: 1 } },
      transitions: [
        { condition: { pattern_match: "a{session_id}", pattern_not_match: "b" }, next_state: "wait" },
        {
          condition: { field_equals: { match_text: "{wait_match_text}" }, timeout_occurred: false },
          next_state: "call",
        },
      ],
    },
    call: {
      action: {
        tool: "run_workflow",
        params: {
          workflow_definition: { name: "inner", initial_state: "a", states: { a: list } },
          initial_variables: { who: "{session_id}" },
          max_states: 5,
        },
      },
      transitions: [],
    },
  },
};

function edited(edit: (definition: { -readonly [Key in keyof typeof valid]: (typeof valid)[Key] }) => void): Json {
  const copy = structuredClone(valid);
  edit(copy);
  return copy as unknown as Json;
}

async function load(definition: Json, options = {}) {
  const text = typeof definition === "string" ? definition : JSON.stringify(definition, null, 2);
  const { graph, problems } = await loadDefinition({ text, file: "w.json" }, options);
  const lines = text.split("\n");
  const shown = problems.map(({ severity, code, message, place }) => {
    return `${severity} ${code} at <${lines[(place?.line ?? 0) - 1]?.trim()}>: ${message}`;
  });
  return { graph, problems, shown };
}

const broken = (change: (states: Record<string, JsonObject>) => void) =>
  edited(({ states }) => change(states as unknown as Record<string, JsonObject>));

describe("a definition", () => {
  test("that is right compiles without a problem", async () => {
    const { graph, shown } = await load(valid as unknown as Json);
    expect(shown).toEqual([]);
    expect(graph).toMatchObject({
      dialect: "terminal",
      name: "valid",
      description: "Everything that there is",
      flow: { kind: "machine", start: "open", maxVisits: 100 },
    });
  });

  test("may say which dialect it is, and may lie in a file of the library", async () => {
    expect((await load({ dialect: "terminal", ...valid } as unknown as Json)).shown).toEqual([]);
    const saved = { definition: valid, metadata: { hash: "x", success_count: 1 } };
    expect((await load(saved as unknown as Json)).graph?.name).toBe("valid");
  });

  test("may be indented by tabs, and hold anything that JSON can", async () => {
    const text = JSON.stringify(
      edited((d) => Object.assign(d, { description: 'é😀\u0007"\\/' })),
      null,
      "\t",
    );
    expect((await load(text)).shown).toEqual([]);
  });

  test.each<[string, Json, string]>([
    [
      "an unknown key",
      edited((d) => Object.assign(d, { inital_state: "x" })),
      'error UNKNOWN_KEY at <"inital_state": "x">: `inital_state` means nothing here.',
    ],
    [
      "no name",
      edited((d) => Reflect.deleteProperty(d, "name")),
      'error KEY_MISSING at <"description": "Everything that there is",>: The definition has no `name`.',
    ],
    [
      "a bad name",
      edited((d) => Object.assign(d, { name: "9lives" })),
      'error VALUE_INVALID at <"name": "9lives",>: `name` cannot be `9lives`.',
    ],
    [
      "a long name",
      edited((d) => Object.assign(d, { name: "a".repeat(65) })),
      'error VALUE_INVALID at <"name": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",>: The name has 65 characters; 64 are allowed.',
    ],
    [
      "a long description",
      edited((d) => Object.assign(d, { description: "a".repeat(501) })),
      'error VALUE_INVALID at <"description": "aaaaaaaaaaaaaaaaaaaa',
    ],
    [
      "no states",
      edited((d) => Object.assign(d, { states: {} })),
      'error VALUE_INVALID at <"states": {}>: `states` is empty.',
    ],
    [
      "too many states",
      edited((d) =>
        Object.assign(d, {
          initial_state: "s0",
          states: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`s${i}`, list])),
        }),
      ),
      'error VALUE_INVALID at <"states": {>: `states` has 101 entries; 100 are allowed.',
    ],
    [
      "a bad name of a state",
      broken((s) => Object.assign(s, { "my-state": list })),
      'error STEP_ID_INVALID at <"my-state": {>: `my-state` cannot be the name of a state.',
    ],
    [
      "an unknown tool",
      broken((s) => Object.assign(s["open"] ?? {}, { action: { tool: "open_terminl", params: {} } })),
      'error VALUE_INVALID at <"tool": "open_terminl",>: `tool` cannot be `open_terminl`; it is one of open_terminal, send_input, run_command, await_output, get_screen_content, list_terminal_sessions, exit_terminal, run_workflow.',
    ],
    [
      "no params",
      broken((s) => Object.assign(s["open"] ?? {}, { action: { tool: "open_terminal" } })),
      'error KEY_MISSING at <"action": {>: `states.open.action` has no `params`.',
    ],
    [
      "an empty condition",
      broken((s) => Object.assign(s["open"] ?? {}, { transitions: [{ condition: {}, next_state: "wait" }] })),
      'error VALUE_INVALID at <"condition": {},>: `condition` is empty.',
    ],
    [
      "an unknown condition",
      broken((s) =>
        Object.assign(s["open"] ?? {}, { transitions: [{ condition: { sucess: true }, next_state: "wait" }] }),
      ),
      'error UNKNOWN_KEY at <"sucess": true>: `sucess` means nothing in `states.open.transitions.0.condition`.',
    ],
    [
      "a wrong type",
      broken((s) => Object.assign(s["open"] ?? {}, { timeout: "5" })),
      'error WRONG_TYPE at <"timeout": "5",>: `timeout` must be a number, not a text.',
    ],
    [
      "a short timeout",
      broken((s) => Object.assign(s["open"] ?? {}, { timeout: 0.05 })),
      'error VALUE_INVALID at <"timeout": 0.05,>: `timeout` must be a number from 0.1 to 300.',
    ],
    [
      "a long timeout",
      broken((s) => Object.assign(s["open"] ?? {}, { timeout: 301 })),
      'error VALUE_INVALID at <"timeout": 301,>: `timeout` must be a number from 0.1 to 300.',
    ],
    [
      "no initial state",
      edited((d) => Object.assign(d, { initial_state: "opn" })),
      'error STEP_UNKNOWN at <"initial_state": "opn",>: Initial state \'opn\' not found in states',
    ],
    [
      "no target",
      broken((s) =>
        Object.assign(s["open"] ?? {}, { transitions: [{ condition: { success: true }, next_state: "wiat" }] }),
      ),
      "error STEP_UNKNOWN at <\"next_state\": \"wiat\">: State 'open' references non-existent state 'wiat'",
    ],
    [
      "no time-out target",
      broken((s) => Object.assign(s["open"] ?? {}, { on_timeout: "nowhere" })),
      "error STEP_UNKNOWN at <\"on_timeout\": \"nowhere\">: State 'open' timeout target 'nowhere' not found",
    ],
    [
      "no source of a call",
      broken((s) => Object.assign(s["call"] ?? {}, { action: { tool: "run_workflow", params: {} } })),
      "error KEY_MISSING at <\"params\": {}>: Either 'workflow_definition' or 'workflow_name' must be provided",
    ],
    [
      "two sources of a call",
      broken((s) =>
        Object.assign(s["call"] ?? {}, {
          action: { tool: "run_workflow", params: { workflow_name: "a", workflow_definition: {} } },
        }),
      ),
      "error VALUE_INVALID at <\"params\": {>: Provide either 'workflow_definition' OR 'workflow_name', not both",
    ],
    [
      "a bad regular expression",
      broken((s) =>
        Object.assign(s["wait"] ?? {}, {
          transitions: [{ condition: { pattern_match: "a(?=b)" }, next_state: "wait" }],
        }),
      ),
      'error REGEX_INVALID at <"pattern_match": "a(?=b)">: The regular expression cannot be used: error parsing regexp: invalid or unsupported Perl syntax: `(?=`.',
    ],
    [
      "a mistake in a workflow inside",
      broken((s) =>
        Object.assign(s["call"] ?? {}, {
          action: {
            tool: "run_workflow",
            params: { workflow_definition: { name: "x", initial_state: "b", states: { a: list } } },
          },
        }),
      ),
      'error STEP_UNKNOWN at <"initial_state": "b",>: Initial state \'b\' not found in states',
    ],
    [
      "a state without a value",
      broken((s) => Object.assign(s, { open: null })),
      'error WRONG_TYPE at <"open": null,>: `open` has no value.',
    ],
    [
      "JSON that ends early",
      '{"initial_state": "a", "name": ',
      'error JSON_SYNTAX at <{"initial_state": "a", "name":>: The file ends where JSON needs a value.',
    ],
    ["no map", "[]", "error DIALECT_UNKNOWN at <[]>: A definition is a map of keys."],
  ])("with %s has an error with its place", async (_, definition, expected) => {
    const { graph, shown, problems } = await load(definition);
    expect(graph).toBeUndefined();
    expect(shown.map((line) => line.slice(0, expected.length))).toContain(expected);
    for (const { remedy } of problems) expect(remedy).not.toBe("");
  });

  test("suggests what was meant", async () => {
    const { problems } = await load(edited((d) => Object.assign(d, { initial_state: "opn" })));
    expect(problems[0]?.remedy).toBe("Did you mean `open`?");
  });

  test.each<[string, Json, string]>([
    [
      "an unreachable state",
      broken((s) => Object.assign(s, { lonely: list })),
      "warning STEP_UNREACHABLE at <\"lonely\": {>: Unreachable states detected: no transition leads to 'lonely'.",
    ],
    [
      "a variable that no state sets",
      broken((s) => Object.assign(s["open"] ?? {}, { action: { tool: "open_terminal", params: { shell: "{sh}" } } })),
      'warning VARIABLE_UNKNOWN at <"shell": "{sh}">: No state sets `{sh}`: without an initial variable of this name it stays as it is.',
    ],
    [
      "an environment variable that is not allowed",
      broken((s) =>
        Object.assign(s["open"] ?? {}, { action: { tool: "open_terminal", params: { shell: "{env.SHELL}" } } }),
      ),
      'warning ENV_NOT_ALLOWED at <"shell": "{env.SHELL}">: The configuration does not allow `{env.SHELL}`: it stays as it is.',
    ],
    [
      "an unknown parameter",
      broken((s) => Object.assign(s["open"] ?? {}, { action: { tool: "open_terminal", params: { flavour: "x" } } })),
      'warning UNKNOWN_KEY at <"flavour": "x">: `flavour` is no parameter of `open_terminal`.',
    ],
    [
      "a parameter that the tool would miss",
      broken((s) => Object.assign(s["wait"] ?? {}, { action: { tool: "await_output", params: { pattern: "x" } } })),
      'warning KEY_MISSING at <"params": {>: `await_output` needs `session_id`.',
    ],
    [
      "a call of itself",
      broken((s) =>
        Object.assign(s["call"] ?? {}, { action: { tool: "run_workflow", params: { workflow_name: "valid" } } }),
      ),
      'warning MAX_DEPTH at <"workflow_name": "valid">: The workflow calls itself: at most 5 levels deep, and then the call fails.',
    ],
  ])("with %s has a warning and compiles", async (_, definition, expected) => {
    const { graph, shown } = await load(definition);
    expect(shown).toEqual([expected]);
    expect(graph).toBeDefined();
  });

  test("with a misspelt parameter has an error", async () => {
    const params = { shel: "sh" };
    const { graph, shown } = await load(
      broken((s) => Object.assign(s["open"] ?? {}, { action: { tool: "open_terminal", params } })),
    );
    expect(shown).toEqual(['error UNKNOWN_KEY at <"shel": "sh">: `shel` is no parameter of `open_terminal`.']);
    expect(graph).toBeUndefined();
  });

  test("may be named like what every object has", async () => {
    const states = Object.fromEntries(
      ["constructor", "__proto__", "toString"].map((name) => [
        name,
        { ...list, transitions: [{ condition: { success: true }, next_state: "toString" }] },
      ]),
    );
    const { graph, shown } = await load(
      `{"name": "x", "initial_state": "constructor", "states": ${JSON.stringify(states)}}`,
    );
    expect(shown).toHaveLength(1);
    expect(shown[0]).toContain("no transition leads to '__proto__'.");
    expect(graph?.flow.steps.map(({ id }) => id)).toEqual(["constructor", "__proto__", "toString"]);
    expect((await load({ name: "x", initial_state: "hasOwnProperty", states: { a: list } })).graph).toBeUndefined();
  });
});
