import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { startFakeModelServer } from "../../fakes/model-server/fake-model-server.ts";
import { result } from "../../fakes/sandstorm/documents.ts";
import { type ReceivedRequest, startFakeSandstorm, toStreamReply } from "../../fakes/sandstorm/fake-sandstorm.ts";
import { toEvents } from "../../fakes/sandstorm/framing.ts";
import { WebhookReceiver } from "../../fakes/webhook-receiver.ts";
import { application } from "../support/application.ts";
import { startServer } from "../support/server.ts";

const FAKE_MCP = fileURLToPath(new URL("../../fakes/mcp-server/main.ts", import.meta.url));

/** Each says where it was planted. */
const PLANTED = {
  input: 'PLANTED-input "quoted" 4711',
  nested: "PLANTED-nested-4711",
  pin: 71_934_526,
  header: "PLANTED-callback-header-4711",
  sandstorm: "PLANTED-sandstorm-4711",
  model: "PLANTED-model-key-4711",
  mcp: "PLANTED-mcp-env-4711",
  screen: "PLANTED-screen-4711",
  prompt: "PLANTED-prompt-env-4711",
} as const;

const VAULT = `
name: vault
input_schema:
  required: [key]
  properties:
    key: {type: string, secret: true}
    pin: {type: integer, format: password}
    login: {type: object, properties: {password: {type: string, writeOnly: true}}}
env: {allow: [PROMPT_TOKEN]}
steps:
  - id: first
    prompt: "Open with {input.key}."
  - id: look
    type: approval
    depends_on: [first]
    approval_config: {message: "Was {input.key} right?", show_data: steps.first.output}
  - id: second
    depends_on: [look]
    prompt: "Again with {input.key}, {input.pin}, {input.login.password}, \${PROMPT_TOKEN}."
`;

const MCP = `
workflowId: tool
startAt: look
steps:
  look: {type: mcp, target: {tool: fake.process}, transitions: {onSuccess: shout}}
  shout: {type: mcp, target: {tool: fake.die}, atMostOnce: true, transitions: {onFailure: ask, end: true}}
  ask:
    type: llm
    target: {prompt: "What?", model: "fake:one"}
    transitions: {end: true}
`;

const SCREEN = {
  name: "screen",
  initial_state: "open",
  states: {
    open: {
      action: { tool: "open_terminal", params: { shell: "bash --norc" } },
      transitions: [{ condition: { success: true }, next_state: "say" }],
    },
    say: {
      action: {
        tool: "send_input",
        params: { session_id: "{session_id}", input_text: "echo {env.SCREEN_VALUE}; echo done-$((1+1))\n" },
      },
      transitions: [{ condition: { success: true }, next_state: "wait" }],
    },
    wait: {
      action: { tool: "await_output", params: { session_id: "{session_id}", pattern: "done-2", timeout: 30 } },
      transitions: [{ condition: { success: true }, next_state: "close" }],
    },
    close: { action: { tool: "exit_terminal", params: { session_id: "{session_id}" } } },
  },
};

const AGENTS = [{ name: "clerk", model: "fake:one", system_prompt: "You are a clerk." }];

/** Says again everything that it was asked, as careless programs do. */
function echo(request: ReceivedRequest) {
  const text = `You sent ${JSON.stringify(request.body)} with ${JSON.stringify(request.headers)}`;
  return toStreamReply(toEvents([result({ result: text })]).map((bytes) => ({ do: "send", bytes })));
}

test("no planted secret is in the data directory, in an answer or in a line of the log, and steps still get them", async () => {
  const sandstorm = await startFakeSandstorm({ play: echo, apiKey: PLANTED.sandstorm });
  onTestFinished(() => sandstorm.close());
  const collector = await WebhookReceiver.listen();
  const model = await startFakeModelServer({
    replies: (request) => ({ do: "say", text: `You said ${JSON.stringify(request)}` }),
    keepsRequests: true,
  });
  onTestFinished(() => model.close());
  const cwd = application({
    "workflows/vault.yaml": VAULT,
    "workflows/tool.yaml": MCP,
    "workflows/screen.json": JSON.stringify(SCREEN),
    "agents.json": JSON.stringify({ name: "office", agents: AGENTS }),
    ".mcp.json": JSON.stringify({
      mcpServers: { fake: { command: process.execPath, args: [FAKE_MCP], env: { TOKEN: variable("MCP_SESAME") } } },
    }),
    "pawl.yaml": JSON.stringify({
      models: {
        providers: {
          fake: {
            kind: "openai-compatible",
            base_url: model.url,
            api_key: variable("MODEL_SESAME"),
          },
        },
      },
      terminal: { env_allow: ["SCREEN_VALUE"] },
    }),
  });
  const env = {
    SANDSTORM_URL: sandstorm.url,
    SANDSTORM_API_KEY: PLANTED.sandstorm,
    MODEL_SESAME: PLANTED.model,
    MCP_SESAME: PLANTED.mcp,
    SCREEN_VALUE: PLANTED.screen,
    PROMPT_TOKEN: PLANTED.prompt,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url(""),
    LOG_LEVEL: "trace",
  };
  const answers: string[] = [];
  const logs: string[] = [];
  const open = async () => {
    const server = await startServer([], { cwd, env });
    const ask = async (path: string, init?: RequestInit) => {
      const response = await fetch(server.url + path, init);
      const text = await response.text();
      answers.push(`${init?.method ?? "GET"} ${path} ${JSON.stringify([...response.headers])} ${text}`);
      return text;
    };
    const close = async () => {
      server.kill("SIGTERM");
      const { stdout, stderr } = await server.ended;
      logs.push(stdout, stderr);
    };
    return { ask, close };
  };
  const post = (body: unknown): RequestInit => ({
    method: "POST",
    body: JSON.stringify(body),
    headers: { "content-type": "application/json" },
  });

  const first = await open();
  const input = { key: PLANTED.input, pin: PLANTED.pin, login: { password: PLANTED.nested } };
  const callback = { callback_url: "http://127.0.0.1:9/hook", callback_headers: { "x-auth": PLANTED.header } };
  const begun = JSON.parse(await first.ask("/workflows/run", post({ workflow: "vault", input, ...callback })));
  const runId: string = begun.data.run_id;
  await expect.poll(() => first.ask(`/runs/${runId}`)).toContain("waiting");
  await expect.poll(() => first.ask("/approvals")).toContain(`"${runId}"`);
  for (const workflow of ["tool", "screen"]) await first.ask("/workflows/run/sync", post({ workflow, input: {} }));
  await first.ask("/agents/clerk/execute", post({ user_message: "Hello." }));
  // What does not fit is told without the value.
  await first.ask("/workflows/run", post({ workflow: "vault", input: { key: 5, pin: PLANTED.input } }));
  await first.close();

  const second = await open();
  const [approval] = JSON.parse(await second.ask("/approvals")).data.items;
  await second.ask(`/approvals/${approval.approval_id ?? approval.id}/approve`, post({}));
  await expect.poll(async () => JSON.parse(await second.ask(`/runs/${runId}`)).data.status).toBe("completed");
  const stream = await second.ask(`/runs/${runId}/stream`);
  expect(stream).toContain("event: end");
  const { data: runs } = JSON.parse(await second.ask("/runs"));
  for (const { run_id: id } of runs.items) await second.ask(`/runs/${id}`);
  expect(await second.ask("/metrics")).toContain("pawl_runs_finished_total");
  for (const path of ["/webhooks", "/dead-letter", "/costs", "/schedules"]) await second.ask(path);
  await second.close();

  const [before, after] = sandstorm.requests.map(({ body }) => String(body["prompt"]));
  expect(before).toBe(`Open with ${PLANTED.input}.`);
  expect(after).toContain(`Again with ${PLANTED.input}, ${PLANTED.pin}, ${PLANTED.nested}, ${PLANTED.prompt}.`);
  expect(findPlanted(answers.join("\n"))).toEqual([]);
  expect(answers.join("\n")).not.toContain("pawl:sealed");
  expect(findPlanted(logs.join("\n"))).toEqual([]);
  const spans = collector.received.map(({ body }) => body).join("\n");
  expect(spans).toContain("invoke_workflow vault");
  expect(findPlanted(spans)).toEqual([]);
  const found = readdirSync(join(cwd, ".pawl"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .flatMap((entry) => {
      const path = join(entry.parentPath, entry.name);
      return findPlanted(readFileSync(path, "latin1")).map((name) => `${path}: ${name}`);
    });
  expect(found).toEqual([]);
  expect(runs.items).toHaveLength(4);
  expect(model.requests.length).toBeGreaterThan(0);
});

function variable(name: string): string {
  return `\${${name}}`;
}

/** As it stands, in JSON, and in a URL. */
function findPlanted(text: string): string[] {
  return Object.entries(PLANTED).flatMap(([name, value]) => {
    const plain = String(value);
    const inJson = JSON.stringify(plain).slice(1, -1);
    const spellings = [plain, inJson, JSON.stringify(inJson).slice(1, -1), encodeURIComponent(plain)];
    const at = spellings.map((spelling) => text.indexOf(spelling)).find((index) => index !== -1);
    return at === undefined ? [] : [`${name} in ...${text.slice(Math.max(0, at - 300), at + 60)}...`];
  });
}
