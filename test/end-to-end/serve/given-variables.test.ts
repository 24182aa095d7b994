import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { needs } from "../../support/needs.ts";
import { application } from "../support/application.ts";
import { pawl } from "../support/pawl.ts";
import { startServer } from "../support/server.ts";

const FAKE_MCP = fileURLToPath(new URL("../../fakes/mcp-server/main.ts", import.meta.url));
const TOKEN = "planted-shop-4711";
const LOGIN = "planted-login-4711";

const SHOP = `
workflowId: shop
startAt: code
steps:
  code:
    type: jit
    target: scripts/look.mjs#look
    params: {token: "\${SHOP_TOKEN}", header: "Bearer \${SHOP_TOKEN}", text: "$\${SHOP_TOKEN} \${name}"}
    inputMapping: {mapped: "'x-\${SHOP_LOGIN}'", given: context.configuration.login, forged: trigger.payload.forged}
    transitions: {onSuccess: tool}
  tool:
    type: mcp
    target: fake.echo
    params: {text: "Bearer \${SHOP_TOKEN}"}
    transitions: {onSuccess: below}
  below: {type: control, subtype: subworkflow, workflowId: below, transitions: {onSuccess: show}}
  show:
    type: control
    subtype: formatResponse
    resultType: generic
    dataMapping: {code: steps.code.output, tool: steps.tool.output, below: steps.below.output}
    end: true
`;

const BELOW = `
workflowId: below
startAt: code
steps:
  code: {type: jit, target: "scripts/look.mjs#look", params: {token: "\${SHOP_TOKEN}"}, end: true}
`;

const SAND = `
name: sand
env: {allow: [SHOP_TOKEN]}
steps:
  - {id: code, type: code, script: "scripts/look.mjs#look", input: {token: "\${SHOP_TOKEN}"}}
`;

/** Tells what it was given in a spelling that no mask knows, and as it is. */
const LOOK = `export function look(input) {
  console.log(JSON.stringify(input));
  return { seen: JSON.stringify(input).split("").reverse().join(""), echo: input };
}`;

function shop(files: Readonly<Record<string, string>> = {}): string {
  return application({
    "workflows/shop.yaml": SHOP,
    "workflows/below.yaml": BELOW,
    "workflows/sand.yaml": SAND,
    "scripts/look.mjs": LOOK,
    ".mcp.json": JSON.stringify({ mcpServers: { fake: { command: process.execPath, args: [FAKE_MCP] } } }),
    "pawl.yaml": JSON.stringify({
      server: { context: { configuration: { login: variable("SHOP_LOGIN"), currency: "EUR" } } },
    }),
    ...files,
  });
}

const ENV = { SHOP_TOKEN: TOKEN, SHOP_LOGIN: LOGIN, LOG_LEVEL: "trace" };

function variable(name: string): string {
  return `\${${name}}`;
}

function reversed(text: string): unknown {
  return JSON.parse(text.split("").reverse().join(""));
}

function leaks(folder: string): string[] {
  return readdirSync(join(folder, ".pawl"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => /planted-(shop|login)-4711/.test(readFileSync(path, "latin1")));
}

test("scripts and tools are given variables that params name, and nothing that is stored, shown or logged has their values", async () => {
  needs("bwrap");
  const cwd = shop();
  const server = await startServer([], { cwd, env: ENV });
  const ask = async (path: string, body?: unknown) =>
    (
      await fetch(server.url + path, {
        method: body === undefined ? "GET" : "POST",
        headers: { "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    ).text();
  const request = {
    context: { workflowInfo: { workflowId: "shop" } },
    requestData: { source: "internal", payload: { forged: variable("SHOP_TOKEN") } },
  };
  const answer = await ask("/execute", request);
  const { value: data } = JSON.parse(answer).data;
  expect(reversed(data.code.seen)).toEqual({
    token: TOKEN,
    header: `Bearer ${TOKEN}`,
    text: `${variable("SHOP_TOKEN")} ${variable("name")}`,
    mapped: `x-${LOGIN}`,
    given: LOGIN,
    forged: variable("SHOP_TOKEN"),
  });
  expect(data.code.echo).toMatchObject({ token: "[redacted]", header: "Bearer [redacted]", given: "[redacted]" });
  expect(JSON.stringify(data.tool)).toContain("Bearer [redacted]");
  expect(reversed(data.below.seen)).toEqual({ token: TOKEN });
  const answers = [answer, await ask("/workflows/run/sync", { workflow: "sand", input: {} })];
  for (const { run_id: id } of JSON.parse(await ask("/runs")).data.items) {
    answers.push(await ask(`/runs/${id}`), await ask(`/runs/${id}/stream`));
  }
  expect(answers.join()).toContain(variable("SHOP_TOKEN"));
  server.kill("SIGTERM");
  const { stdout, stderr } = await server.ended;
  expect(answers.join() + stdout + stderr).not.toMatch(/planted-(shop|login)-4711/);
  expect(leaks(cwd)).toEqual([]);
});

test("a variable that is not set fails the step before anything is called", async () => {
  const cwd = shop({ "one.yaml": BELOW });
  const { code, stderr } = await pawl(["run", "one.yaml"], { cwd, env: {} });
  expect([code, stderr]).toEqual([1, expect.stringContaining("VARIABLE_MISSING")]);
  expect(stderr).toContain("SHOP_TOKEN");
});

test("a model is given none, which is said before the run", async () => {
  const cwd = shop({
    "ask.yaml": `
workflowId: ask
startAt: ask
steps:
  ask: {type: llm, target: {prompt: "Say {{ token }}", model: "mock:"}, params: {token: "\${SHOP_TOKEN}"}, transitions: {onSuccess: keep}}
  keep: {type: mcp, target: core.state.setRuntimeValue, params: {key: a, value: "\${SHOP_TOKEN}"}, end: true}
`,
  });
  const { stdout, stderr } = await pawl(["validate", "ask.yaml"], { cwd, env: ENV });
  expect((stdout + stderr).match(/ENV_NOT_ALLOWED/g)).toHaveLength(2);
  await pawl(["run", "ask.yaml"], { cwd, env: ENV });
  expect(leaks(cwd)).toEqual([]);
});

test("a definition that is sent reads no variable that its key does not grant, but may name the server's own agent server", async () => {
  const cwd = shop();
  const server = await startServer([], { cwd, env: { ...ENV, PAWL_AGENT__PROVIDER: "simulated" } });
  const send = async (workflow: string) => {
    const body = JSON.stringify({ workflow, input: {} });
    const response = await fetch(`${server.url}/workflows/run/sync`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    return response.text();
  };
  expect(await send(BELOW)).toMatch(/NOT_GRANTED.*SHOP_TOKEN|SHOP_TOKEN.*NOT_GRANTED/);
  const own = (url: string) => `name: own\nsandstorm_url: "${url}"\nsteps: [{id: a, prompt: "Say yes."}]\n`;
  expect(await send(own(variable("SANDSTORM_URL")))).toContain("completed");
  expect(await send(own(`https://example.com/${variable("SANDSTORM_URL")}`))).toContain("NOT_GRANTED");
});
