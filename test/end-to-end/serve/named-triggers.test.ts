import { expect, test } from "vitest";
import { application } from "../support/application.ts";
import { startServer } from "../support/server.ts";

const NAMED = `
workflowId: named
triggers:
  - { type: http, name: read, config: { pathPattern: /orders, method: GET } }
  - { type: http, config: { pathPattern: /orders, method: POST } }
  - { type: queue, name: lane, config: { queueName: orders } }
  - { type: trigger, name: money, config: { triggerEvent: paid } }
startAt: answer
steps:
  answer: { type: control, subtype: formatResponse, data: { by: trigger.name, source: trigger.source } }
`;

test("a run of a route, a queue and an event reads by which trigger it was started", async () => {
  const server = await startServer([], { cwd: application({ "workflows/named.yaml": NAMED }) });
  const post = (path: string) =>
    fetch(`${server.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ messageId: "m", payload: { n: 1 } }),
    });
  const outputsOf = async (response: Response) => {
    const { data } = (await response.json()) as { data: { runs: readonly { run_id: string }[] } };
    return expect.poll(
      async () => {
        const shown = await fetch(`${server.url}/runs/${data.runs[0]?.run_id}`);
        return ((await shown.json()) as { data: { outputs: unknown } }).data.outputs;
      },
      { timeout: 20_000 },
    );
  };
  expect(await (await fetch(`${server.url}/orders`)).json()).toMatchObject({ by: "read", source: "http" });
  expect(((await (await post("/orders")).json()) as { by?: unknown }).by ?? null).toBeNull();
  await (await outputsOf(await post("/queues/orders/messages"))).toMatchObject({
    data: { by: "lane", source: "queue" },
  });
  await (await outputsOf(await post("/triggers/paid"))).toMatchObject({ data: { by: "money", source: "trigger" } });
});
