import { expect, test } from "vitest";
import type { ModelRequest } from "../../fakes/model-server/model-reply.ts";
import { saidIn } from "../../fakes/model-server/shown.ts";
import { pawl } from "../support/pawl.ts";
import { startServer } from "../support/server.ts";
import { EXAMPLE, FINAL, WORKFLOW, weatherApplication } from "./weather-application.ts";

const PATH = `/workflows/${encodeURIComponent(WORKFLOW)}/execute`;

/** What the model was shown, request by request: who was asked, with which tools, and what was said last. */
function shownTo(requests: readonly ModelRequest[]) {
  return requests.map(({ shown, model }) => ({
    model,
    agent: shown.system.startsWith("You look up the weather") ? "weather" : "planning",
    tools: shown.tools.map(({ name }) => name),
    last: saidIn(shown).at(-1),
  }));
}

const WEATHER_TOOLS = ["weather_cities", "weather_lookup"];
const PLANNING_TOOLS = ["list_plans", "save_plan"];

/** Each agent sees the tools of its own server only. */
const SHOWN = [
  { model: "haiku", agent: "weather", tools: WEATHER_TOOLS, last: "What about Paris?" },
  { model: "haiku", agent: "weather", tools: WEATHER_TOOLS, last: expect.stringContaining("18 °C, light rain") },
  { model: "haiku", agent: "planning", tools: PLANNING_TOOLS, last: "It is 18 °C in Paris, with light rain." },
  { model: "haiku", agent: "planning", tools: PLANNING_TOOLS, last: expect.stringContaining("paris") },
];

test("through the endpoint: each agent is shown its own tools, and the next one is told what was said", async () => {
  const { folder, model } = await weatherApplication();
  const server = await startServer([], { cwd: folder, env: { API_KEY: "secret" } });
  const body = JSON.stringify({ initial_user_message: "What about Paris?" });

  const refused = await fetch(server.url + PATH, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  const response = await fetch(server.url + PATH, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": "secret" },
    body,
  });

  expect(refused.status).toBe(401);
  expect(await response.json()).toMatchObject({
    workflow_name: WORKFLOW,
    status: "completed",
    final_message: FINAL,
    error: null,
    steps: [
      { step: 1, name: "Weather Agent", tool_uses: [{ name: "weather_lookup", is_error: false }] },
      { step: 2, name: "Planning Agent", tool_uses: [{ name: "save_plan" }, { name: "list_plans" }] },
    ],
  });
  expect(shownTo(model.requests)).toEqual(SHOWN);
});

test("one agent is asked alone, as a stream too", async () => {
  const { folder } = await weatherApplication();
  const server = await startServer([], { cwd: folder });
  const status = await fetch(`${server.url}/status`);
  expect(await status.json()).toMatchObject({ status: "initialized" });
  const ask = (headers: Record<string, string>) =>
    fetch(`${server.url}/agents/Weather%20Agent/execute`, {
      method: "POST",
      body: JSON.stringify({ user_message: "What about Paris?" }),
      headers: { "content-type": "application/json", ...headers },
    });

  const answer = await (await ask({})).json();
  const events = (await (await ask({ accept: "text/event-stream" })).text()).match(/(?<=^event: ).*/gm);

  expect(answer).toMatchObject({
    conversation: [
      { role: "user", content: [{ type: "text", text: "What about Paris?" }] },
      { role: "assistant", content: [{ type: "tool_use", name: "weather_lookup", input: { location: "Paris" } }] },
      { role: "user", content: [{ type: "tool_result", is_error: false }] },
      { role: "assistant", content: [{ type: "text", text: "It is 18 °C in Paris, with light rain." }] },
    ],
    final_response: { role: "assistant", stop_reason: "end_turn" },
    tool_uses: [{ name: "weather_lookup", input: { location: "Paris" } }],
  });
  expect([...new Set(events)]).toEqual(["status", "step", "tool_call", "tool_result", "text", "result", "end"]);
});

test("through the command line, with a model of the other API", async () => {
  const { folder, model } = await weatherApplication({ kind: "openai-compatible" });

  const ran = await pawl(["run", `agents.json#${WORKFLOW}`, "-i", "message=What about Paris?", "--json"], {
    cwd: folder,
  });

  expect(ran).toMatchObject({ code: 0 });
  expect(JSON.parse(ran.stdout)).toMatchObject({
    data: { status: "completed", outputs: { final_message: FINAL, status: "completed" } },
  });
  expect(shownTo(model.requests)).toEqual(SHOWN);
});

test("as a step of a Sandcastle workflow", async () => {
  const day = `
name: day
input_schema: { required: [city], properties: { city: { type: string } } }
steps:
  - id: plan
    type: sub_workflow
    sub_workflow:
      workflow: ${WORKFLOW}
      input_mapping: { message: "{input.city}" }
`;
  const { folder, model } = await weatherApplication({ files: { "workflows/day.yaml": day } });

  const ran = await pawl(["run", "day", "-i", "city=What about Paris?", "--json"], { cwd: folder });

  expect(ran).toMatchObject({ code: 0 });
  expect(JSON.parse(ran.stdout)).toMatchObject({ data: { outputs: { plan: { final_message: FINAL } } } });
  expect(shownTo(model.requests)).toEqual(SHOWN);
});

test("as it stands in the repository it needs no key", async () => {
  const { folder } = await weatherApplication();

  const ran = await pawl(["run", WORKFLOW, "--app", EXAMPLE, "--data", folder, "-i", "message=Paris?", "--json"], {
    cwd: folder,
  });

  expect(JSON.parse(ran.stdout)).toMatchObject({
    data: { status: "completed", outputs: { final_message: expect.stringContaining("The plan is saved") } },
  });
});
