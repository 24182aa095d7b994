import { expect, onTestFinished, test } from "vitest";
import { serveAgents } from "../agents/serve-agents.ts";
import { fakeSettings } from "../fakes/mcp-server/server-entries.ts";
import type { Play } from "../fakes/model-server/fake-model-server.ts";

const GONE_MS = 10_000;

test("a model server that is gone for ten seconds loses nothing, and no turn is paid twice", async () => {
  let leftAt = 0;
  const answered: string[] = [];
  const replies: Play = ({ shown }, index) => {
    const results = shown.messages.flatMap((message) => message.results).length;
    if (index === 1) {
      leftAt = Date.now();
      return { do: "leave", ms: GONE_MS };
    }
    answered.push(`${shown.system} ${results}`);
    return results < 2
      ? { do: "say", calls: [{ name: "say", input: { text: String(results) } }] }
      : { do: "say", text: "Done." };
  };
  const agent = (name: string) => ({ name, client_ids: ["fake"], model: "fake:m", system_prompt: name });
  const file = {
    clients: [{ client_id: "fake", ...fakeSettings() }],
    agents: [agent("A"), agent("B")],
    workflows: [{ name: "W", steps: ["A", "B"] }],
  };
  const served = await serveAgents({ files: { "agents.json": JSON.stringify(file) }, replies });
  onTestFinished(() => served.close());

  const running = served.post("/workflows/W/execute", { initial_user_message: "Go." });
  await expect.poll(() => leftAt).toBeGreaterThan(0);
  await expect(fetch(served.model.url)).rejects.toThrow();
  const { body } = await running;

  expect(Date.now() - leftAt).toBeGreaterThan(GONE_MS);
  expect(body).toMatchObject({ status: "completed", final_message: "Done." });
  expect(body.steps.map(({ tool_uses }: { tool_uses: object[] }) => tool_uses.length)).toEqual([2, 2]);
  // Each turn has been answered once.
  expect(answered).toEqual(["A 0", "A 1", "A 2", "B 0", "B 1", "B 2"]);
});
