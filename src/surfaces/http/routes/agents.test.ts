import { describe, expect, test } from "vitest";
import { agentsGraphs } from "../../../../test/fakes/agents-graphs.ts";
import { HttpWorld, type HttpWorldOptions } from "../../../../test/fakes/http-world.ts";
import { input, respond, shaped, uhlpGraph } from "../../../../test/fakes/uhlp-graph.ts";
import { fail, type Play, succeed } from "../../../../test/faults/world.ts";
import { isJsonObject, type Json } from "../../../core/json.ts";
import { loadDefinition } from "../../../dialects/load-definition.ts";
import type { Task } from "../../../ports/executor.ts";
import { createHttpApp } from "../create-http-app.ts";

const PLAN = "/workflows/Weather%20then%20planning/execute";
const ASKED = { initial_user_message: "Paris?" };
const GRAPHS = await agentsGraphs({
  workflows: { "Weather then planning": ["Weather Agent", "Planning Agent"], Empty: [] },
});

const says =
  (text: string): Play =>
  (task) =>
    succeed(answerOf(task, text), 1_000);

function answerOf(task: Task, text: string | null): Json {
  return {
    text,
    final_response: { role: "assistant", content: text === null ? [] : [{ type: "text", text }] },
    conversation: [{ role: "user", content: askedOf(task) }],
    tool_uses: [{ id: "t1", name: "lookup", input: {}, output: "18", is_error: false }],
  };
}

function askedOf({ input: bound }: Task): Json {
  return isJsonObject(bound) ? (bound["message"] ?? null) : null;
}

function worldOf(plays: HttpWorldOptions["plays"], more: Partial<HttpWorldOptions> = {}): HttpWorld {
  const uhlp = uhlpGraph({ name: "greet", steps: [respond(shaped("generic", input()))] });
  return new HttpWorld([...GRAPHS, uhlp], { ...more, ...(plays === undefined ? {} : { plays }) });
}

async function bodyOf(response: Response): Promise<{ readonly [name: string]: unknown }> {
  return (await response.json()) as { readonly [name: string]: unknown };
}

describe("a workflow of agents", () => {
  test("runs its steps in order; what one says is the next one's message", async () => {
    const { post, world } = bound(
      worldOf({ "Weather Agent": says("Rain in Paris."), "Planning Agent": says("Take an umbrella.") }),
    );

    const response = await post(PLAN, { ...ASKED, session_id: "s-1" });

    expect(response.status).toBe(200);
    expect(await bodyOf(response)).toEqual({
      workflow_name: "Weather then planning",
      status: "completed",
      final_message: "Take an umbrella.",
      error: null,
      run_id: response.headers.get("x-run-id"),
      steps: [
        step(1, "Weather Agent", { message: "Rain in Paris." }),
        step(2, "Planning Agent", { message: "Take an umbrella." }),
      ],
    });
    expect(world.calls.map(({ input: bound }) => bound)).toMatchObject([
      { agent: { name: "Weather Agent" }, message: "Paris?", session_id: "s-1", step: 1 },
      { agent: { name: "Planning Agent" }, message: "Rain in Paris.", session_id: "s-1", step: 2 },
    ]);
  });

  test("that is unknown is 404, and no agent is asked", async () => {
    const { post, world } = bound(worldOf({}));

    const response = await post("/workflows/No%20such/execute", ASKED);

    expect(response.status).toBe(404);
    expect(await bodyOf(response)).toMatchObject({ detail: "Workflow 'No such' not found" });
    expect(world.calls).toEqual([]);
  });

  test("of another dialect is 404, with the route to use", async () => {
    const response = await bound(worldOf({})).post("/workflows/greet/execute", ASKED);

    expect(response.status).toBe(404);
    expect(await bodyOf(response)).toMatchObject({
      detail: "Workflow 'greet' not found",
      remedy: expect.stringContaining("POST /workflows/run/sync"),
    });
  });

  const FAILURES = [
    ["AGENT_FAILED", "Agent 'Weather Agent' (step 1) failed: AGENT_FAILED happened."],
    ["AGENT_NO_RESPONSE", "Agent 'Weather Agent' (step 1) did not return a final response."],
    ["AGENT_NO_TEXT", "Agent 'Weather Agent' (step 1) response content has no text block."],
  ] as const;
  for (const [code, error] of FAILURES) {
    test(`whose first step fails (${code}) is answered with 200, and later steps are not run`, async () => {
      const { post, world } = bound(worldOf({ "Weather Agent": () => fail(code) }));

      const response = await post(PLAN, ASKED);

      expect(response.status).toBe(200);
      expect(await bodyOf(response)).toMatchObject({
        status: "failed",
        final_message: null,
        error,
        steps: [
          { step: 1, status: "failed", error },
          { step: 2, status: "skipped", error: null },
        ],
      });
      expect(world.calls).toHaveLength(1);
    });
  }

  test("with no steps is completed_empty, and its message is the one that came", async () => {
    const { post, world } = bound(worldOf({}));

    const response = await post("/workflows/Empty/execute", ASKED);

    expect(await bodyOf(response)).toMatchObject({
      status: "completed_empty",
      final_message: "Paris?",
      error: null,
      steps: [],
    });
    expect(world.calls).toEqual([]);
  });

  test("whose part has gone meanwhile is a configuration error with the last message", async () => {
    const world = new HttpWorld(
      await agentsGraphs({ workflows: { Two: ["Weather Agent", "Gone"] }, others: ["Gone"] }),
      { plays: { "Weather Agent": says("Rain.") } },
    );

    const response = await world.post("/workflows/Two/execute", ASKED);

    expect(response.status).toBe(200);
    expect(await bodyOf(response)).toMatchObject({
      status: "failed",
      final_message: "Rain.",
      error: "Configuration error: Workflow 'Gone' (step 2) not found in host config.",
    });
  });

  test("may have other workflows as its steps", async () => {
    const plays = { "Weather Agent": says("Rain."), "Planning Agent": says("Stay.") };
    const graphs = await agentsGraphs({ workflows: { Outer: ["Inner", "Planning Agent"], Inner: ["Weather Agent"] } });
    const world = new HttpWorld(graphs, { plays });

    expect(await bodyOf(await world.post("/workflows/Outer/execute", ASKED))).toMatchObject({
      final_message: "Stay.",
      steps: [
        { step: 1, name: "Inner", type: "workflow", message: "Rain." },
        { step: 2, name: "Planning Agent", type: "agent", message: "Stay." },
      ],
    });
  });

  test("is answered in the words of later versions too", async () => {
    const { post } = bound(worldOf({ "Weather Agent": says("Rain."), "Planning Agent": says("Stay.") }));

    const response = await post("/execution/workflows/linear/Weather%20then%20planning/run", {
      initial_input: "Paris?",
      session_id: "s-1",
    });

    expect(await bodyOf(response)).toEqual({
      workflow_name: "Weather then planning",
      status: "completed",
      step_results: [
        { step_name: "Weather Agent", step_type: "agent", result: "Rain." },
        { step_name: "Planning Agent", step_type: "agent", result: "Stay." },
      ],
      final_output: "Stay.",
      error: null,
      session_id: "s-1",
      run_id: response.headers.get("x-run-id"),
    });
  });

  test("of another kind than its route is 404, with the right route", async () => {
    const response = await bound(worldOf({})).post("/execution/workflows/graph/Weather%20then%20planning/run", {
      initial_input: "Paris?",
    });

    expect([response.status, await bodyOf(response)]).toEqual([
      404,
      expect.objectContaining({
        detail: "Workflow 'Weather then planning' not found",
        remedy: expect.stringContaining("POST /execution/workflows/linear/Weather%20then%20planning/run"),
      }),
    ]);
  });

  test("of the kind graph is answered at its own route", async () => {
    const text = JSON.stringify({
      agents: [{ name: "Weather Agent", client_ids: [] }],
      graph_workflows: [{ name: "G", type: "graph_workflow", nodes: ["Weather Agent"], edges: [] }],
    });
    const { graph } = await loadDefinition({ text }, { select: { workflow: "G" } });
    const { http } = new HttpWorld(graph === undefined ? [] : [graph], { plays: { "Weather Agent": says("Rain.") } });
    const statusAt = async (kind: string) => {
      const headers = { "content-type": "application/json" };
      const init = { method: "POST", headers, body: '{"initial_input": "Paris?"}' };
      return (await http.request(`/execution/workflows/${kind}/G/run`, init)).status;
    };
    expect([await statusAt("graph"), await statusAt("linear")]).toEqual([200, 404]);
  });

  test("that is a Python class is refused with what to write instead", async () => {
    for (const path of ["/custom_workflows/Mine/execute", "/execution/workflows/custom/Mine/run"]) {
      const response = await bound(worldOf({})).post(path, { initial_input: 1 });
      expect(response.status).toBe(501);
      expect(await bodyOf(response)).toMatchObject({
        detail: expect.stringContaining("'Mine'"),
        code: "NOT_SUPPORTED",
      });
    }
  });
});

describe("names as they come in paths", () => {
  const NAMES = ["a/b", "Ünïcode ☂", 'with "quotes" and \\', "100%", "a?b#c", "constructor", "東京"];

  test("are found when they are encoded, whatever they hold", async () => {
    const graphs = await agentsGraphs({ workflows: Object.fromEntries(NAMES.map((name) => [name, ["A"]])) });
    const { post } = bound(new HttpWorld(graphs, { plays: { A: says("Yes.") } }));
    for (const name of NAMES) {
      const written = encodeURIComponent(name);
      const response = await post(`/workflows/${written}/execute`, ASKED);
      expect([name, response.status, (await bodyOf(response))["workflow_name"]]).toEqual([name, 200, name]);
    }
  });

  const ODD = ["%", "%ZZ", "%C3", "%C3%28", "%00", "%2e%2e%2f", "__proto__", "toString", "%FF%FE", "a".repeat(5_000)];
  for (const written of ODD) {
    test(`${written.slice(0, 20)} is 404 where nothing is called so`, async () => {
      const world = worldOf({});
      const asked = { initial_user_message: "Hi", user_message: "Hi", initial_input: "Hi" };
      for (const path of ["/workflows/*/execute", "/agents/*/execute", "/execution/workflows/linear/*/run"]) {
        expect((await world.post(path.replace("*", written), asked)).status).toBe(404);
      }
      expect(world.defects).toEqual([]);
    });
  }
});

test("an agent that is unknown is 404", async () => {
  const response = await worldOf({}).post("/agents/No%20such/execute", { user_message: "Hi" });

  expect([response.status, await bodyOf(response)]).toEqual([
    404,
    expect.objectContaining({ detail: "Agent 'No such' not found", code: "AGENT_NOT_FOUND" }),
  ]);
});

describe("as a stream", () => {
  test("tells of steps, texts and tools, then gives the result", async () => {
    const live = (task: Task, event: Json) => task.emit({ type: "log", event });
    const { post } = bound(
      worldOf({
        "Weather Agent": (task) => {
          const content: Json = [
            { type: "text", text: "I look." },
            { type: "tool_use", id: "t1", name: "lookup", input: { city: "Paris" } },
          ];
          const results = [{ type: "tool_result", tool_use_id: "t1", content: "18", is_error: false }];
          live(task, { type: "assistant", message: { role: "assistant", content } });
          live(task, { type: "user", message: { role: "user", content: results } });
          task.emit({ type: "live", event: { type: "text", text: "Ra" } });
          return succeed(answerOf(task, "Rain."));
        },
        "Planning Agent": () => fail("AGENT_FAILED"),
      }),
    );

    const response = await post(PLAN, ASKED, { accept: "text/event-stream" });
    const events = await eventsOf(response);

    expect(response.headers.get("content-type")).toContain("text/event-stream");
    expect(events).toEqual([
      ["status", { run_id: response.headers.get("x-run-id"), status: "running" }],
      ["step", { step: 1, name: "Weather Agent", status: "running" }],
      ["text", { step: 1, name: "Weather Agent", text: "I look." }],
      ["tool_call", { step: 1, name: "Weather Agent", id: "t1", tool: "lookup", input: { city: "Paris" } }],
      ["tool_result", { step: 1, name: "Weather Agent", id: "t1", output: "18", is_error: false }],
      ["text", { step: 1, name: "Weather Agent", text: "Ra" }],
      ["step", { step: 1, name: "Weather Agent", status: "completed" }],
      ["step", { step: 2, name: "Planning Agent", status: "running" }],
      ["step", { step: 2, name: "Planning Agent", status: "failed" }],
      ["result", expect.objectContaining({ status: "failed", final_message: null })],
      ["end", {}],
    ]);
  });

  test("what is refused before it begins has its own status", async () => {
    const response = await bound(worldOf({})).post("/workflows/None/execute", ASKED, { accept: "text/event-stream" });

    expect([response.status, await bodyOf(response)]).toEqual([
      404,
      expect.objectContaining({ code: "WORKFLOW_NOT_FOUND" }),
    ]);
  });
});

describe("keys", () => {
  const server = { api_key: "secret" };
  const ROUTES = [
    ["POST", PLAN],
    ["POST", "/agents/Weather%20Agent/execute"],
    ["POST", "/custom_workflows/x/execute"],
    ["POST", "/execution/workflows/linear/x/run"],
    ["GET", "/status"],
  ] as const;
  for (const [method, path] of ROUTES) {
    test(`${method} ${path} wants the configured key`, async () => {
      const world = worldOf({ "Weather Agent": says("a"), "Planning Agent": says("b") }, { server });
      const ask = (headers: Record<string, string>) =>
        world.request(path, { method, headers, ...(method === "POST" ? { body: JSON.stringify(ASKED) } : {}) });

      const without = await ask({});
      const wrong = await ask({ "x-api-key": "secret2" });
      const right = await ask({ "x-api-key": "secret" });

      expect([without.status, await bodyOf(without)]).toEqual([
        401,
        expect.objectContaining({ detail: "API key required in X-API-Key header" }),
      ]);
      expect([wrong.status, await bodyOf(wrong)]).toEqual([
        403,
        expect.objectContaining({ detail: "Invalid API Key" }),
      ]);
      expect([401, 403]).not.toContain(right.status);
    });
  }

  test("none is asked for where none is configured", async () => {
    expect(await bodyOf(await worldOf({}).request("/status"))).toEqual({ status: "initialized", servers: [] });
  });
});

describe("GET /status", () => {
  const failed = {
    server: "plans",
    origin: ".mcp.json",
    transport: "stdio",
    state: "waiting",
    callsInFlight: 0,
    restarts: 3,
    lastFailure: "It ended with code 1.",
    nextTryAt: Date.UTC(2026, 0, 2, 3, 4, 5),
  } as const;

  test("tells how the MCP servers are", async () => {
    const tools = ["now", "soon"].map((name) => ({ name, description: "" }));
    const ready = { ...failed, server: "weather", state: "ready", tools, callsInFlight: 1, restarts: 0 } as const;
    const { lastFailure: _, nextTryAt: __, ...weather } = ready;
    const world = worldOf({}, { toolServers: [weather, failed] });

    expect(await bodyOf(await world.request("/status"))).toEqual({
      status: "initialized",
      servers: [
        {
          server: "weather",
          state: "ready",
          transport: "stdio",
          origin: ".mcp.json",
          tools: 2,
          calls_in_flight: 1,
          restarts: 0,
        },
        {
          server: "plans",
          state: "waiting",
          transport: "stdio",
          origin: ".mcp.json",
          calls_in_flight: 0,
          restarts: 3,
          last_failure: "It ended with code 1.",
          next_try_at: "2026-01-02T03:04:05.000Z",
        },
      ],
    });
  });

  test("is 503 where no run could begin", async () => {
    const { parts } = worldOf({});
    const app = { ...parts.app, records: () => Promise.reject(new Error("The disk is gone.")) };
    const unready = await createHttpApp({ ...parts, app, appFor: () => app }, []).request("/status");
    expect([unready.status, (await bodyOf(unready))["code"]]).toEqual([503, "JOURNAL_IO"]);

    const stopping = worldOf({});
    stopping.streams.stop();
    expect((await stopping.request("/status")).status).toBe(503);
  });
});

describe("a request that cannot be carried out", () => {
  for (const body of [
    "{",
    "[]",
    "{}",
    '{"initial_user_message": 7}',
    '{"initial_user_message": "a", "session_id": ""}',
  ]) {
    test(`${body} is 422`, async () => {
      const response = await bound(worldOf({})).post(PLAN, body);
      expect([response.status, await bodyOf(response)]).toEqual([
        422,
        expect.objectContaining({ code: "REQUEST_INVALID", detail: expect.any(String) }),
      ]);
    });
  }

  test("another method is 405", async () => {
    expect((await worldOf({}).request(PLAN)).status).toBe(405);
  });

  test("a host that stops is 503", async () => {
    const world = worldOf({});
    await world.runner.stop(0, AbortSignal.abort());
    const response = await world.post(PLAN, ASKED);
    expect([response.status, await bodyOf(response)]).toEqual([
      503,
      expect.objectContaining({ code: "SERVER_STOPPING" }),
    ]);
  });
});

/** Its parts without the object. */
function bound(world: HttpWorld) {
  return {
    post: (path: string, body: unknown, headers?: Record<string, string>) => world.post(path, body, headers),
    world: world.world,
  };
}

function step(number: number, name: string, more: { readonly message: string }) {
  return {
    step: number,
    name,
    type: "agent",
    status: "completed",
    error: null,
    tool_uses: [{ id: "t1", name: "lookup", input: {}, output: "18", is_error: false }],
    cost_usd: 0.001,
    duration_seconds: 0,
    ...more,
  };
}

async function eventsOf(response: Response): Promise<readonly (readonly [string, unknown])[]> {
  const blocks = (await response.text()).split("\n\n").filter((block) => block.startsWith("event: "));
  return blocks.map((block) => {
    const [, event = "", data = ""] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
    return [event, JSON.parse(data)] as const;
  });
}
