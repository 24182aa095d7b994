import { existsSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { startFakeModelServer } from "../../fakes/model-server/fake-model-server.ts";
import { result } from "../../fakes/sandstorm/documents.ts";
import { startFakeSandstorm, toStreamReply } from "../../fakes/sandstorm/fake-sandstorm.ts";
import { toEvents } from "../../fakes/sandstorm/framing.ts";
import { application } from "../support/application.ts";
import { pawl } from "../support/pawl.ts";
import { startServer } from "../support/server.ts";

const ENV = { SECRET_THING: "planted-4711", ANTHROPIC_API_KEY: "planted-anthropic", E2B_API_KEY: "planted-e2b" };

/** A program that leaves a trace when it is started. */
function agentsWith(server: JsonObject): string {
  return JSON.stringify({
    mcpServers: { own: server },
    agents: [{ name: "A", model: "mock", mcp_servers: ["own"] }],
    workflows: [{ name: "w", steps: ["A"] }],
  });
}

const SHELL = JSON.stringify({
  name: "shell",
  initial_state: "open",
  states: { open: { action: { tool: "open_terminal", params: { shell: "python3" } } } },
});

/** Does one thing with a session by its id. */
const USE = JSON.stringify({
  name: "use",
  initial_state: "do",
  states: {
    do: {
      action: { tool: "send_input", params: { session_id: "{id}", input_text: "print(6*7)\n" } },
      transitions: [{ condition: { success: true }, next_state: "look" }],
    },
    look: { action: { tool: "get_screen_content", params: { session_id: "{id}" } } },
  },
});

const LIST = JSON.stringify({
  name: "list",
  initial_state: "all",
  states: { all: { action: { tool: "list_terminal_sessions", params: {} } } },
});

const MEMORY = JSON.stringify({
  agents: [{ name: "A", model: "fake:one", include_history: true }],
  workflows: [{ name: "remember", steps: ["A"] }],
});

/** The operator's own may use the network. */
const CODE = `
name: code
steps:
  - {id: run, type: code, script: "scripts/touch.py#main", network: true, retry: {max_attempts: 1, on_failure: skip}}
  - {id: ask, prompt: "Hello.", model: "mock:", depends_on: [run]}
`;

const COMPUTED = `
name: computed
input_schema: {properties: {text: {type: string}}}
steps:
  - id: call
    type: sub_workflow
    sub_workflow: {workflow: "{input.text}"}
`;

const READER = `name: reader\nenv: {allow: [SECRET_THING]}\nsteps:\n  - {id: a, prompt: 'Say \${SECRET_THING}.'}\n`;

class Served {
  readonly #url: string;
  readonly #app: string;

  constructor(url: string, app: string) {
    this.#url = url;
    this.#app = app;
  }

  static async start(files: Readonly<Record<string, string>> = {}, args: readonly string[] = []): Promise<Served> {
    const app = application({ "workflows/computed.yaml": COMPUTED, "workflows/shell.json": SHELL, ...files });
    const { url } = await startServer(args, { cwd: app, env: { ...ENV, API_KEY: "configured" } });
    return new Served(url, app);
  }

  get marker(): string {
    return join(this.#app, "marker");
  }

  /** The files of a tenant, by their paths in its storage. */
  stored(tenant: string): readonly string[] {
    const folder = join(this.#app, ".pawl", "storage", "tenants", tenant);
    if (!existsSync(folder)) return [];
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
      .sort();
  }

  /** Made on the server's machine. */
  async key(...args: readonly string[]): Promise<string> {
    const made = await pawl(["keys", "create", "k", "--tenant", "acme", ...args], { cwd: this.#app });
    expect(made.code, made.stderr).toBe(0);
    return made.stdout.trim();
  }

  async callTool(name: string, args: JsonObject, key: string): Promise<string> {
    const accept = "application/json, text/event-stream";
    const headers = { "content-type": "application/json", accept, "x-api-key": key };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } });
    return (await fetch(`${this.#url}/mcp`, { method: "POST", headers, body })).text();
  }

  async get(path: string, key: string): Promise<string> {
    return (await fetch(`${this.#url}${path}`, { headers: { "x-api-key": key } })).text();
  }

  async post(path: string, body: JsonObject, key: string): Promise<{ status: number; body: JsonObject }> {
    const headers = { "content-type": "application/json", "x-api-key": key };
    const response = await fetch(`${this.#url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    return { status: response.status, body: (await response.json()) as JsonObject };
  }
}

/** The codes of the problems with which a text is refused. */
function problemsOf({ body }: { readonly body: JsonObject }): readonly string[] {
  const { details } = (body["error"] ?? {}) as { readonly details?: { readonly problems?: readonly JsonObject[] } };
  return (details?.problems ?? []).filter(({ severity }) => severity === "error").map(({ code }) => String(code));
}

describe("a key of a tenant", () => {
  test("starts no program, opens no terminal and reads no variable by a text that it sends", async () => {
    const served = await Served.start();
    const key = await served.key();
    const program = agentsWith({ command: "bash", args: ["-c", `touch ${served.marker}`] });
    const texts = [
      program,
      agentsWith({ server_path: "x.py" }),
      agentsWith({ url: "http://127.0.0.1:1/" }),
      agentsWith({ url: "https://example.org", headers: { authorization: `Bearer \${SECRET_THING:-x}` } }),
      SHELL,
      READER,
      `name: n\nsandstorm_url: 'http://\${SECRET_THING}.example.org'\nsteps:\n  - {id: a, prompt: hi}\n`,
    ];
    for (const workflow of texts) {
      for (const path of ["/workflows/run", "/workflows/run/sync"]) {
        const refused = await served.post(path, { workflow, input: { message: "hi" } }, key);
        expect(problemsOf(refused), workflow).toContain("NOT_GRANTED");
        expect(refused.status).toBe(400);
      }
      const validated = await served.post("/workflows/validate", { text: workflow }, key);
      expect(JSON.stringify(validated.body)).toContain("NOT_GRANTED");
    }
    expect(existsSync(served.marker)).toBe(false);
  });

  test("is told the place, and the word that would allow it", async () => {
    const served = await Served.start();
    const refused = await served.post("/workflows/run", { workflow: READER }, await served.key());
    expect(refused.body).toMatchObject({
      error: {
        details: {
          problems: [
            {
              code: "NOT_GRANTED",
              place: { line: 2, column: 1 },
              remedy: expect.stringContaining("--grant variables:SECRET_THING"),
            },
          ],
        },
      },
    });
    const granted = await served.key("--grant", "variables:SECRET_*");
    expect((await served.post("/workflows/run", { workflow: READER, agent: "simulated" }, granted)).status).toBe(202);
  });

  test("opens no terminal by a text that a run makes, nor by the operator's own workflow", async () => {
    const served = await Served.start();
    const key = await served.key();
    const input = { text: JSON.stringify(JSON.parse(SHELL), null, 2) };
    const computed = await served.post("/workflows/run/sync", { workflow: "computed", input }, key);
    expect(computed.body).toMatchObject({ data: { status: "failed", error: { code: "DEFINITION_INVALID" } } });
    const operators = await served.post("/workflows/run/sync", { workflow: "shell" }, key);
    expect(operators.body).toMatchObject({ data: { status: "failed", error: { code: "NOT_GRANTED" } } });
    const granted = await served.key("--grant", "terminals");
    const opened = await served.post("/workflows/run/sync", { workflow: "shell" }, granted);
    expect(opened.body).toMatchObject({ data: { status: "completed" } });
  });

  test("gets no further by saving, forking, MCP or the sandbox protocol", async () => {
    const app = { "workflows/code.yaml": CODE, "scripts/touch.py": "def main():\n    return 1\n" };
    const served = await Served.start(app);
    const key = await served.key("--scopes", "read,run,write");
    for (const text of [SHELL.replace("shell", "mine"), READER]) {
      expect(problemsOf(await served.post("/workflows", { text }, key))).toContain("NOT_GRANTED");
      expect(problemsOf(await served.post("/workflows/plan", { workflow: text, input: {} }, key))).toContain(
        "NOT_GRANTED",
      );
    }
    const asked = await served.callTool("run_workflow_yaml", { yaml_content: READER }, key);
    expect(asked).toContain("NOT_GRANTED");
    // A fork with other steps is a text that is sent, whoever's workflow it was.
    const ran = await served.post("/workflows/run/sync", { workflow: "code" }, key);
    const id = (ran.body["data"] as JsonObject)["run_id"];
    const fork = { from_step: "ask", changes: { prompt: "Something else." } };
    expect(problemsOf(await served.post(`/runs/${id}/fork`, fork, key))).toContain("NOT_GRANTED");
    const requestData = { source: "internal", payload: {} };
    const context = { workflowInfo: { workflowId: "shell" } };
    const executed = await served.post("/execute", { context, requestData }, key);
    expect(executed.body).toMatchObject({ data: { code: "NOT_GRANTED" } });
    expect(JSON.stringify(executed.body)).not.toContain("session_");
  });

  test("finds no terminal of another tenant: it does not exist", async () => {
    const served = await Served.start({ "workflows/use.json": USE, "workflows/list.json": LIST });
    const [acme, other] = [
      await served.key("--grant", "terminals"),
      await served.key("--grant", "terminals", "--tenant", "b"),
    ];
    const opened = await served.post("/workflows/run/sync", { workflow: "shell" }, acme);
    const [id] = /session_[0-9a-f]{8}/.exec(JSON.stringify(opened.body)) ?? [];
    expect(id).toBeDefined();
    const seen = await served.post("/workflows/run/sync", { workflow: "list" }, other);
    expect(JSON.stringify(seen.body)).not.toContain(id);
    expect(JSON.stringify((await served.post("/workflows/run/sync", { workflow: "list" }, acme)).body)).toContain(id);
    const use = async (sessionId: string) => {
      const { body } = await served.post("/workflows/run/sync", { workflow: "use", input: { id: sessionId } }, other);
      return JSON.stringify((body["data"] as JsonObject)["error"]).replaceAll(/[0-9a-f-]{8,}/g, "ID");
    };
    expect(await use(String(id))).toBe(await use("session_00000000"));
  });

  test("finds no conversation of another tenant", async () => {
    const model = await startFakeModelServer({ replies: () => ({ do: "say", text: "noted" }) });
    onTestFinished(() => model.close());
    const providers = { fake: { kind: "openai-compatible", base_url: model.url, api_key: "k" } };
    const config = { models: { providers } };
    const served = await Served.start({ "agents.json": MEMORY, "pawl.yaml": JSON.stringify(config) });
    const ask = async (message: string, key: string) =>
      served.post("/workflows/run/sync", { workflow: "remember", input: { message, session_id: "s" } }, key);
    const [acme, other] = [await served.key(), await served.key("--tenant", "b")];
    await ask("my code word is heron", acme);
    await ask("what is my code word?", acme);
    expect(JSON.stringify(model.requests.at(-1))).toContain("heron");
    await ask("what is my code word?", other);
    expect(model.requests).toHaveLength(3);
    expect(JSON.stringify(model.requests.at(-1))).not.toContain("heron");
  });

  test("gets no key of a provider by naming an agent server of its own", async () => {
    const play = () => toStreamReply(toEvents([result()]).map((bytes) => ({ do: "send" as const, bytes })));
    const sandstorm = await startFakeSandstorm({ play });
    onTestFinished(() => sandstorm.close());
    const served = await Served.start();
    const workflow = `name: n\nsandstorm_url: ${sandstorm.url}\nsteps:\n  - {id: a, prompt: hi}\n`;
    const refused = await served.post("/workflows/run/sync", { workflow }, await served.key());
    expect(refused.body).toMatchObject({ data: { status: "failed" } });
    expect(sandstorm.requests).toEqual([]);
    await served.post("/workflows/run/sync", { workflow }, await served.key("--grant", "addresses:127.0.0.1"));
    expect(sandstorm.requests.length).toBeGreaterThan(0);
    expect(JSON.stringify(sandstorm.requests)).not.toContain("planted");
  });
});

describe("a key with a folder of the storage", () => {
  const sent = (more: object, step: object = {}): JsonObject => ({
    workflow: JSON.stringify({
      name: "store",
      input_schema: { properties: { to: { type: "string" } } },
      steps: [{ id: "a", prompt: "Hi.", ...step }],
      ...more,
    }),
    agent: "simulated",
  });
  const atEnd = (path: string) => sent({ on_complete: { storage_path: path } });
  const csv = (directory: string) => sent({}, { csv_output: { directory, filename: "rows" } });

  test("is told at once of a path beside it, and writes below it", async () => {
    const served = await Served.start();
    const key = await served.key("--grant", "storage:reports");
    for (const body of [atEnd("other/x.json"), atEnd("reports-2/x.json"), csv("other"), sent({}, { csv_output: {} })]) {
      expect(problemsOf(await served.post("/workflows/run/sync", body, key)), String(body["workflow"])).toEqual([
        "NOT_GRANTED",
      ]);
    }
    for (const body of [atEnd("reports/x.json"), csv("./reports/daily/")]) {
      expect((await served.post("/workflows/run/sync", body, key)).body).toMatchObject({
        data: { status: "completed" },
      });
    }
    await expect
      .poll(() => served.stored("acme"))
      .toEqual([expect.stringMatching(/^reports\/daily\/rows-/), "reports/x.json"]);
  });

  test("gets no further by values, in whatever spelling", async () => {
    const served = await Served.start();
    const key = await served.key("--grant", "storage:reports");
    const spellings = [
      "other/x",
      "../b/x",
      "reports/../other/x",
      "/reports/x",
      "reports%2F..%2Fother/x",
      "%2e%2e/x",
      "../../tenants/b/x",
      "tenants/b/x",
      "./other/x",
    ];
    for (const to of spellings) {
      const ended = await served.post("/workflows/run/sync", { ...atEnd("{input.to}"), input: { to } }, key);
      const { run_id: id } = ended.body["data"] as JsonObject;
      expect(await served.get(`/runs/${id}/events`, key), to).toMatch(/outputs are not stored: It was not granted/);
      const exported = await served.post("/workflows/run/sync", { ...csv("{input.to}"), input: { to } }, key);
      expect(JSON.stringify(exported.body), to).toContain("NOT_GRANTED");
    }
    expect(served.stored("acme")).toEqual([]);
    expect(served.stored("b")).toEqual([]);
  });
});

test("a key is granted no more than its maker has", async () => {
  const served = await Served.start();
  const made = await served.post("/keys", { name: "more", grant: "terminals" }, "configured");
  expect(made.body).toMatchObject({ error: { code: "FORBIDDEN" } });
  const less = await served.post("/keys", { name: "less", grant: { storage: false } }, "configured");
  expect(less.body).toMatchObject({ data: { grant: "storage:none" } });
  const wrong = await served.post("/keys", { name: "x", grant: "terminal" }, "configured");
  expect(wrong.body).toMatchObject({ error: { remedy: expect.stringContaining("`terminals`") } });
});
