import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { startFakeModelServer } from "../../fakes/model-server/fake-model-server.ts";
import { application } from "../support/application.ts";
import { pawl } from "../support/pawl.ts";

const SERVER = fileURLToPath(new URL("../../fakes/mcp-server/old_server.py", import.meta.url));

/** An agent with a real server that has `read` and `book`, and a model that counts how often it is asked. */
async function agentWith(settings: object, ofServer: object = {}) {
  const model = await startFakeModelServer({ replies: [{ do: "say", text: "Done." }] });
  onTestFinished(() => model.close());
  const client = { type: "client", name: "shop", server_path: SERVER, args: ["tools=read,book"], ...ofServer };
  const agent = {
    type: "agent",
    name: "a",
    system_prompt: "Help.",
    model: "local:any",
    client_ids: ["shop"],
    ...settings,
  };
  const provider = { kind: "openai-compatible", base_url: model.url, api_key: "any" };
  const cwd = application({
    "agents.json": JSON.stringify({ components: [client, agent] }),
    "pawl.yaml": JSON.stringify({ models: { providers: { local: provider } } }),
  });
  const run = await pawl(["run", "agents.json#a", "-i", "message=Hi"], { cwd });
  const planned = await pawl(["plan", "agents.json#a", "-i", "message=Hi"], { cwd });
  return { run, planned, asked: model.requests.length };
}

for (const [key, settings] of [
  ["approve", { approve: ["shop.boook"] }],
  ["exclude", { exclude: ["boook"] }],
  ["allow", { allow: ["read", "boook"] }],
] as const) {
  test(`a name under \`${key}\` that no tool has is an error with the likely word, before a run begins`, async () => {
    const { run, planned, asked } = await agentWith(settings);
    expect(run.code).toBe(3);
    expect(run.stdout + run.stderr).toMatch(/Did you mean `(shop\.)?book`\?/);
    expect(planned.stdout + planned.stderr).toContain(`under \`${key}\` matches no tool`);
    expect(asked).toBe(0);
  });
}

test("names that match are no matter", async () => {
  const { run, asked } = await agentWith({ approve: ["shop.book"], exclude: ["mcp__shop__re*"] });
  expect([run.code, asked]).toEqual([0, 1]);
});
