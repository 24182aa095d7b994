import { expect, test } from "vitest";
import { application } from "../support/application.ts";
import { pawl } from "../support/pawl.ts";
import { type RunningServer, startServer } from "../support/server.ts";

const SETTLED = `
  ask: { type: control, subtype: wait, event: go, transitions: { onSuccess: done } }
  done: { type: control, subtype: formatResponse, data: { done: "true" } }
`;
const FILES = {
  "workflows/queue.yaml": `
workflowId: in_line
startAt: ask
concurrency: { key: trigger.payload.customer }
steps: ${SETTLED}`,
  "workflows/skip.yaml": `
workflowId: skipped
startAt: ask
concurrency: { whenFull: skip }
steps: ${SETTLED}`,
};

async function ask({ url }: RunningServer, path: string, body?: object) {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(url + path, body === undefined ? {} : init);
  const { data, error } = (await response.json()) as { data: { run_id: string; status: string }; error: unknown };
  return { status: response.status, data, error };
}

test("a run in line says so everywhere, can be cancelled, and goes on when the one before it has ended", async () => {
  const cwd = application(FILES);
  const server = await startServer([], { cwd });
  const start = (path = "") => ask(server, `/workflows/run${path}`, { workflow: "in_line", input: { customer: 7 } });
  const first = (await start()).data.run_id;
  const show = async (id: string) => (await ask(server, `/runs/${id}`)).data;
  await expect.poll(async () => (await show(first)).status).toBe("waiting");

  const second = await start("/sync");
  expect(second).toMatchObject({ status: 202, data: { status: "queued" } });
  const third = (await start()).data.run_id;
  await expect.poll(() => show(third)).toMatchObject({ place_wait: { holders: [first], before: 1 } });
  expect((await pawl(["runs", "show", third], { cwd })).stdout).toContain(`1 before it, after ${first}`);

  await ask(server, `/runs/${second.data.run_id}/cancel`, {});
  await expect.poll(() => show(second.data.run_id)).toMatchObject({ status: "cancelled", steps: [] });
  await expect.poll(() => show(third)).toMatchObject({ place_wait: { before: 0 } });

  const followed = pawl(["run", "in_line", "-i", "customer=7", "--json"], { cwd });
  await ask(server, `/runs/${first}/signals`, { name: "go" });
  await expect.poll(async () => (await show(third)).status).toBe("waiting");
  await ask(server, `/runs/${third}/signals`, { name: "go" });
  const { code, stdout } = await followed;
  expect([code, stdout]).toEqual([6, expect.stringContaining("waiting")]);
});

test("who starts a run that is skipped is told so, and no run is begun", async () => {
  const server = await startServer([], { cwd: application(FILES) });
  const start = () => ask(server, "/workflows/run", { workflow: "skipped", input: {} });
  expect((await start()).status).toBe(202);
  expect(await start()).toMatchObject({ status: 409, error: { code: "PLACES_TAKEN" } });
  expect(await ask(server, "/runs/counts")).toMatchObject({ data: { total: 1 } });
});
