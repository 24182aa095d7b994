import { afterAll, beforeAll, expect, test } from "vitest";
import { oldSettings } from "../fakes/mcp-server/server-entries.ts";
import { playScript } from "../fakes/model-server/play-script.ts";
import { serveAgents } from "./serve-agents.ts";

const TOKEN = "a-secret-of-the-mail";
const VARIABLE = ["$", "{MAIL_TOKEN}"].join("");
const FILES = {
  "agents.json": JSON.stringify({
    agents: [{ name: "Clerk", model: "fake:m", system_prompt: "You write.", client_ids: ["mail"] }],
  }),
  ".claude/agents/helper.md": "---\nname: helper\ndescription: Helps.\n---\nYou help.\n",
  ".claude/agents/broken.md": "---\nname: []\n---\n",
  ".mcp.json": JSON.stringify({
    mcpServers: {
      mail: oldSettings(["tools=send,receive"], { env: { MAIL_TOKEN: VARIABLE } }),
      gone: { url: `http://me:pass@127.0.0.1:1/mcp?token=${VARIABLE}` },
      odd: { command: 7 },
    },
  }),
};

let served: Awaited<ReturnType<typeof serveAgents>>;
beforeAll(async () => {
  const environment = { MAIL_TOKEN: TOKEN };
  served = await serveAgents({ files: FILES, replies: playScript({ turns: [{ say: "Nobody asks." }] }), environment });
});
afterAll(() => served.close());

test("agents are listed with what they use, and files that cannot be read are named", async () => {
  const { data } = (await served.get("/agents")).body;
  expect(data.items).toEqual([
    {
      name: "Clerk",
      description: null,
      model: "fake:m",
      clients: ["mail"],
      origin: expect.stringMatching(/^agents\.json:/),
    },
    { name: "helper", description: "Helps.", model: null, clients: null, origin: expect.stringMatching(/helper\.md:/) },
  ]);
  expect(data.broken).toEqual([".claude/agents/broken.md"]);
});

test("an agent is shown with the origin of each setting and the servers that it may use", async () => {
  const { data } = (await served.get("/agents/helper")).body;
  expect(data).toMatchObject({ name: "helper", description: "Helps." });
  expect(data.settings).toContainEqual({ setting: "temperature", value: 0.7, origin: "default" });
  expect(data.servers.map(({ name }: { readonly name: string }) => name)).toEqual(["mail", "gone", "odd"]);
  expect(JSON.stringify(data)).not.toMatch(/a-secret|me:pass/);
  expect(await served.get("/agents/nobody")).toMatchObject({
    status: 404,
    body: { error: { code: "AGENT_NOT_FOUND" } },
  });
});

test("MCP servers are told of as they are, and connected where that is asked for", async () => {
  const serversAt = async (path: string) => {
    const { body } = await served.get(path);
    expect(JSON.stringify(body)).not.toMatch(/a-secret|me:pass/);
    return body.data.items;
  };
  expect(await serversAt("/mcp-servers")).toMatchObject([
    { name: "mail", origin: ".mcp.json", transport: "stdio", state: "idle", tools: null, error: null },
    { name: "gone", transport: "http", reached: "http://127.0.0.1:1/mcp", state: "idle" },
    { name: "odd", transport: "unknown", reached: null, state: "failed", error: expect.stringContaining("command") },
  ]);
  const [mail, gone] = await serversAt("/mcp-servers?check=true");
  expect(mail).toMatchObject({ state: "connected", calls_in_flight: 0, restarts: 0, next_try_at: null });
  expect(mail.tools.map(({ name }: { readonly name: string }) => name).sort()).toEqual(["receive", "send"]);
  expect(gone).toMatchObject({ state: "failed", error: expect.stringContaining("gone") });
});

test("a tenant is told the names of an agent's servers only, and nothing of the servers", async () => {
  const asTenant = async (path: string) => {
    const headers = { "x-api-key": key };
    const response = await fetch(`${served.url}${path}`, { headers });
    return (await response.json()) as { readonly data: { readonly servers: unknown }; readonly error: unknown };
  };
  const { key } = (await served.post("/keys", { name: "acme", tenant_id: "acme", scopes: ["admin"] })).body.data;
  expect((await asTenant("/agents/Clerk")).data.servers).toEqual([{ name: "mail", origin: null, reached: null }]);
  expect((await asTenant("/mcp-servers")).error).toMatchObject({ code: "FORBIDDEN" });
});
