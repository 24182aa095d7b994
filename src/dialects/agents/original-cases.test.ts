import { describe, expect, test } from "vitest";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { loadDefinition } from "../load-definition.ts";

/** What the loader of the original host is asked in its own tests, and what its files in the wild hold. */
async function load(file: Json | string, name = "agents.json") {
  const text = typeof file === "string" ? file : JSON.stringify(file);
  const { parts = [], problems } = await loadDefinition({ text, file: name }, { select: "all" });
  const settingsOf = (agent: string): JsonObject => {
    const { settings = [] } = parts.find((part) => part.name === agent) ?? {};
    return Object.fromEntries(settings.map((setting) => [setting.name, setting.value]));
  };
  const serversOf = (part: string): JsonObject => {
    const servers = parts.find((each) => each.name === part)?.toGraph().settings["mcp_servers"];
    return isJsonObject(servers) ? servers : {};
  };
  const names = (kind: "agent" | "workflow") => parts.flatMap((part) => (part.kind === kind ? [part.name] : []));
  const errors = problems.filter(({ severity }) => severity === "error").map(({ message }) => message);
  const warnings = problems.filter(({ severity }) => severity === "warning").map(({ message }) => message);
  return { errors, warnings, settingsOf, serversOf, agents: names("agent"), workflows: names("workflow") };
}

const CLIENT = { client_id: "c", server_path: "s.py", roots: [], capabilities: ["tools"] };

describe("every field of the original's files is taken", () => {
  test("of a client", async () => {
    const roots = [{ uri: "file:///data", name: "data", capabilities: ["read"] }];
    const client = { ...CLIENT, roots, timeout: "15.5", routing_weight: "0.5", exclude: ["a", "b"] };
    const { errors, warnings, serversOf } = await load({ clients: [client], agents: [{ name: "A" }], workflows: [] });
    expect([errors, warnings]).toEqual([[], []]);
    expect(serversOf("A")).toMatchObject({
      c: { server_path: "s.py", timeout_ms: 15_500, routing_weight: 0.5, exclude: ["a", "b"] },
    });
  });

  test("of a client what its server may ask, and who Pawl is to it, as where it stands in `.mcp.json`", async () => {
    const says = {
      elicitation: "refuse",
      sampling: { max_tokens: 100 },
      oauth: { client_id: "me", scope: "tools" },
    };
    const url = { client_id: "u", url: "https://mcp.example.com", sampling: "allow" };
    const { errors, warnings, serversOf } = await load({
      clients: [{ ...CLIENT, ...says }, url],
      agents: [{ name: "A" }],
    });
    expect([errors, warnings]).toEqual([[], []]);
    expect(serversOf("A")).toMatchObject({ c: says, u: { sampling: "allow" } });
  });

  test("of a client what no server may ask is refused with its place", async () => {
    const wrong: readonly JsonObject[] = [{ elicitation: "never" }, { sampling: "always" }, { oauth: "me" }];
    for (const says of wrong) {
      const { errors } = await load({ clients: [{ ...CLIENT, ...says }], agents: [{ name: "A" }] });
      expect(errors).toHaveLength(1);
    }
  });

  test("of a client that says null where it says nothing", async () => {
    const client = { ...CLIENT, timeout: null, routing_weight: null, exclude: null };
    const { errors, serversOf } = await load({ clients: [client], agents: [{ name: "A", client_ids: null }] });
    expect(errors).toEqual([]);
    expect(serversOf("A")).toMatchObject({ c: { server_path: "s.py" } });
  });

  test("of a workflow and of a custom one, which is a warning that says what to write", async () => {
    const { errors, warnings, workflows } = await load({
      agents: [{ name: "A" }],
      workflows: [{ name: "W", steps: ["A"], description: "Does it." }],
      custom_workflows: [{ name: "C", module_path: "m.py", class_name: "K", description: "d" }],
    });
    expect([errors, workflows]).toEqual([[], ["W"]]);
    expect(warnings).toEqual([expect.stringContaining("'C' is the Python class m.py:K")]);
  });
});

describe("numbers and flags may be texts", () => {
  const CASES: readonly (readonly [key: string, written: Json, read: Json])[] = [
    ["temperature", "0.7", 0.7],
    ["temperature", "0", 0],
    ["temperature", 1, 1],
    ["max_tokens", "4096", 4_096],
    ["max_iterations", " 10 ", 10],
    ["include_history", "True", true],
    ["include_history", "true", true],
    ["include_history", "False", false],
    ["include_history", "false", false],
    ["include_history", true, true],
    ["client_ids", [], []],
  ];
  for (const [key, written, read] of CASES) {
    test(`${key}: ${JSON.stringify(written)}`, async () => {
      const { errors, settingsOf } = await load({ agents: [{ name: "A", [key]: written }] });
      expect(errors).toEqual([]);
      expect(settingsOf("A")[key === "client_ids" ? "clients" : key]).toEqual(read);
    });
  }

  const WRONG: readonly (readonly [key: string, written: Json])[] = [
    ["temperature", "hot"],
    ["max_tokens", "many"],
    ["max_iterations", "1.5"],
    ["include_history", "perhaps"],
    ["temperature", {}],
  ];
  for (const [key, written] of WRONG) {
    test(`${key}: ${JSON.stringify(written)} is refused in the original's words`, async () => {
      const { errors } = await load({ agents: [{ name: "The Agent", [key]: written }] });
      expect(errors).toEqual([expect.stringContaining("Invalid parameter type for agent 'The Agent'")]);
    });
  }
});

describe("what is wrong is told in the original's words", () => {
  const CASES: readonly (readonly [what: string, file: JsonObject, says: string])[] = [
    ["an agent without a name", { agents: [{ model: "m" }] }, "Agent definition missing 'name'"],
    [
      "a workflow without a name",
      { agents: [{ name: "A" }], workflows: [{ steps: ["A"] }] },
      "Workflow definition missing 'name'",
    ],
    [
      "a workflow with an agent that is not there",
      { agents: [{ name: "A" }], workflows: [{ name: "W", steps: ["A", "B"] }] },
      "Workflow 'W' references unknown agent 'B'",
    ],
  ];
  for (const [what, file, says] of CASES) {
    test(what, async () => expect((await load(file)).errors).toEqual([says]));
  }

  test("a file that is empty, or no JSON, has an error with its place", async () => {
    for (const text of ["", "   ", "not json at all", '{"agents": [}', "[]"]) {
      expect((await load(text)).errors).not.toEqual([]);
    }
  });
});

describe("what is allowed is not told", () => {
  const CASES: readonly (readonly [what: string, file: JsonObject])[] = [
    ["no steps", { agents: [], workflows: [{ name: "W", steps: [] }] }],
    ["no clients", { clients: [], agents: [{ name: "A" }], workflows: [] }],
    ["only agents", { agents: [{ name: "A" }] }],
    ["an agent twice in one workflow", { agents: [{ name: "A" }], workflows: [{ name: "W", steps: ["A", "A"] }] }],
    ["keys of the whole host", { name: "Host", agents: [{ name: "A" }], workflows: [], custom_workflows: [] }],
  ];
  for (const [what, file] of CASES) {
    test(what, async () => {
      const { errors, warnings } = await load(file);
      expect([errors, warnings]).toEqual([[], []]);
    });
  }

  test("names with blanks, other alphabets and quotes", async () => {
    const names = ["Weather Agent", " padded ", "Ünï ☂ 東京", 'say "hi"', "a/b", "100%", "constructor"];
    const { errors, agents } = await load({ agents: names.map((name) => ({ name })) });
    expect(errors).toEqual([]);
    expect(agents).toEqual(names);
  });

  test("300 agents and 100 workflows", async () => {
    const agents = Array.from({ length: 300 }, (_, index) => ({ name: `Agent ${index}`, temperature: "0.5" }));
    const workflows = Array.from({ length: 100 }, (_, index) => ({ name: `W ${index}`, steps: [`Agent ${index}`] }));
    expect(await load({ agents, workflows })).toMatchObject({ errors: [], agents: { length: 300 } });
  });
});
