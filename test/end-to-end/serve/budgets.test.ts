import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { WebhookReceiver } from "../../fakes/webhook-receiver.ts";
import { AT_ONCE, application, QUESTION } from "../support/application.ts";
import { pawl } from "../support/pawl.ts";
import { PROFILE } from "../support/profile.ts";
import { startServer } from "../support/server.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

function newApplication(more = ""): string {
  return application({
    "workflows/question.yaml": QUESTION,
    "answers.yaml": AT_ONCE,
    "pawl.yaml": `agent: { provider: "simulated:answers.yaml" }\n${more}`,
  });
}

interface Answer {
  readonly status: number;
  readonly data: JsonObject;
}

async function ask(url: string, body: JsonObject): Promise<Answer> {
  const response = await fetch(`${url}/workflows/run/sync`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ workflow: "question", input: { question: "why" }, ...body }),
  });
  const { data } = (await response.json()) as { readonly data: JsonObject };
  return { status: response.status, data };
}

/** Over a database what another process has set is seen within a second. */
async function asking(url: string, status: number): Promise<void> {
  const statusNow = async () => (await ask(url, {})).status;
  if (PROFILE === "embedded") expect(await statusNow()).toBe(status);
  else await expect.poll(statusNow).toBe(status);
}

test("a budget that another process sets, raises and removes holds in the server that runs", async () => {
  const cwd = newApplication();
  const { url } = await startServer([], { cwd });
  const set = (steps: string) => pawl(["budgets", "set", "--max-steps", steps, "--json"], { cwd });
  expect(await ask(url, {})).toMatchObject({ status: 200, data: { status: "completed" } });

  const { code, stdout } = await set("1");
  expect(code).toBe(0);
  const { data: budget } = JSON.parse(stdout) as { readonly data: JsonObject };
  await asking(url, 200);
  await asking(url, 402);

  expect((await set("2")).code).toBe(0);
  await asking(url, 200);
  await asking(url, 402);

  expect((await pawl(["budgets", "rm", String(budget["budget_id"])], { cwd })).code).toBe(0);
  await asking(url, 200);
  expect((await set("1")).code).toBe(0);
  await asking(url, 200);
  await asking(url, 402);
});

test("at 80 % of a run's limit and of a budget a signed warning arrives, once each", async () => {
  const receiver = await WebhookReceiver.listen();
  const cwd = newApplication(`outbound: { allow: ["${receiver.host}"] }\n`);
  const { url } = await startServer([], { cwd, env: { WEBHOOK_SECRET: SECRET } });
  const shared = ["budgets", "set", "--max-cost", "0.012", "--webhook", receiver.url("/shared"), "--json"];
  const { stdout } = await pawl(shared, { cwd });
  const { data: budget } = JSON.parse(stdout) as { readonly data: JsonObject };
  const { data: run } = await ask(url, { limits: { max_cost_usd: 0.0125 }, callback_url: receiver.url("/run") });
  expect(run).toMatchObject({ status: "completed" });

  await expect.poll(() => receiver.received.length).toBe(3);
  const told = receiver.received.map(({ path, headers, body }) => {
    const { event, run_id, budget: of, limit } = JSON.parse(body) as JsonObject;
    return { path, event, run_id, budget: of, limit, signed: typeof headers["webhook-signature"] };
  });
  const about = { event: "budget.warning", run_id: run["run_id"], signed: "string" };
  expect(told).toContainEqual({
    ...about,
    path: "/run",
    budget: "run",
    limit: { of: "cost_usd", limit: 0.0125, used: 0.01, is: "near" },
  });
  expect(told).toContainEqual({
    ...about,
    path: "/shared",
    budget: budget["budget_id"],
    limit: { of: "cost_usd", limit: 0.012, used: 0.01, is: "near" },
  });
  expect(told).toContainEqual(expect.objectContaining({ path: "/run", event: "workflow.completed" }));
});
