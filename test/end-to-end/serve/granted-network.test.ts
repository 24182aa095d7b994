import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { needs } from "../../support/needs.ts";
import { application } from "../support/application.ts";
import { pawl } from "../support/pawl.ts";
import { startServer } from "../support/server.ts";

needs("bwrap", "curl", "python3");

const ASK = `
import urllib.request
def main(url):
    try:
        return urllib.request.urlopen(url, timeout=5).read().decode()
    except Exception as error:
        return "refused: " + str(error)
`;

const FLOW = `
name: flow
steps:
  - {id: ask, type: code, script: scripts/ask.py#main, params: {url: "{input.url}"}, network: true}
`;

/** The ways in which a tenant's definition runs a program that has the network. */
const WAYS: Readonly<Record<string, (url: string) => string>> = {
  "an MCP server of its own": (url) =>
    JSON.stringify({
      mcpServers: { own: { command: "bash", args: ["-c", `curl -sS -m 5 ${url} >&2; exit 1`] } },
      agents: [{ name: "A", model: "any", mcp_servers: ["own"] }],
      workflows: [{ name: "w", steps: ["A"] }],
    }),
  "a terminal in the sandbox": (url) => {
    const shell = `bash -c "curl -sS -m 5 ${url}; sleep 5"`;
    return JSON.stringify({
      name: "shell",
      initial_state: "open",
      states: { open: { action: { tool: "open_terminal", params: { shell, sandbox: true } } } },
    });
  },
};

// A text has no scripts. A fork with other steps is of the key that forks, and keeps those of the workflow.
test("code with the network reaches the private addresses of its key's grant, and no others", async () => {
  const app = application({ "scripts/ask.py": ASK, "workflows/flow.yaml": FLOW });
  const { url } = await startServer([], { cwd: app, env: { API_KEY: "configured" } });
  const [granted, other] = [await serve("hello from the granted"), await serve("hello from the other")];
  const call = async (path: string, apiKey: string, body?: object) => {
    const headers = { "content-type": "application/json", "x-api-key": apiKey };
    const asked = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    return (await fetch(`${url}${path}`, { headers, ...asked })).json() as Promise<
      JsonObject & { data: { run_id: string } }
    >;
  };
  const ask = async (apiKey: string, asked: string): Promise<string> => {
    const started = { workflow: "flow", input: { url: "http://127.0.0.1:1/" } };
    const ran = await call("/workflows/run/sync", apiKey, started);
    const changes = { input: { url: asked }, steps: { ask: { timeout: 20 } } };
    const fork = await call(`/runs/${ran.data.run_id}/fork`, apiKey, { from_step: "ask", changes });
    let text = "";
    await expect
      .poll(
        async () => {
          text = JSON.stringify(await call(`/runs/${fork.data.run_id}`, apiKey));
          return text;
        },
        { timeout: 20_000 },
      )
      .toMatch(/"status":"completed"/);
    return text;
  };
  const [withIt, without] = [
    await key(app, `code:network,folders,addresses:${new URL(granted).host}`),
    await key(app, "code:network,folders"),
  ];
  expect(await ask(withIt, granted)).toContain("hello from the granted");
  expect(await ask(withIt, other)).not.toContain("hello");
  expect(await ask(without, granted)).not.toContain("hello");
});

test.each(Object.keys(WAYS))(
  "%s reaches the private addresses of its key's grant, and no others",
  async (way) => {
    const app = application({
      "pawl.yaml": "models: {aliases: {any: mock:model.yaml}}\nterminal: {level: low}\n",
      "model.yaml": "steps: {A: [{reply: hi}]}\n",
    });
    const { url } = await startServer([], { cwd: app, env: { API_KEY: "configured" } });
    const [granted, other] = [await serve("hello from the granted"), await serve("hello from the other")];
    const grant = `commands,terminals,addresses:${new URL(granted).host}`;
    const ask = async (key: string, asked: string) => {
      const response = await fetch(`${url}/workflows/run/sync`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": key },
        body: JSON.stringify({ workflow: WAYS[way]?.(asked), input: { message: "hi" } }),
      });
      return response.text();
    };
    const [withIt, without] = [await key(app, grant), await key(app, "commands,terminals")];

    expect(await ask(withIt, granted)).toContain("hello from the granted");
    expect(await ask(withIt, other)).not.toContain("hello");
    expect(await ask(without, granted)).not.toContain("hello");
  },
  60_000,
);

async function key(app: string, grant: string): Promise<string> {
  const made = await pawl(["keys", "create", "k", "--tenant", "acme", "--grant", grant], { cwd: app });
  expect(made.code, made.stderr).toBe(0);
  return made.stdout.trim();
}

async function serve(said: string): Promise<string> {
  const server = createServer((_, answer) => answer.end(said));
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}
