import { expect, test } from "vitest";
import { AT_ONCE, application } from "../../end-to-end/support/application.ts";
import { pawl } from "../../end-to-end/support/pawl.ts";
import { KilledServer } from "../service/killed-server.ts";

const GATED = `
name: gated
steps:
  - {id: draft, prompt: Write something.}
  - id: ok
    type: approval
    depends_on: [draft]
    approval_config: {message: "Good?", allow_edit: true}
  - {id: event, type: wait, depends_on: [ok], event: paid}
  - {id: end, depends_on: [event], prompt: "{steps.ok.output} {steps.event.output}"}
`;

async function startGated(): Promise<{ readonly server: KilledServer; readonly cwd: string; readonly runId: string }> {
  const cwd = application({
    "workflows/gated.yaml": GATED,
    "answers.yaml": AT_ONCE,
    "pawl.yaml": "agent: {provider: 'simulated:answers.yaml'}\n",
  });
  const server = new KilledServer({ cwd, env: {} });
  await server.start();
  const { response } = await server.post("/workflows/run", { workflow: "gated" });
  const { data } = (await response.json()) as { data: { run_id: string } };
  await untilStatus(server, data.run_id, "awaiting_approval");
  return { server, cwd, runId: data.run_id };
}

async function untilStatus(server: KilledServer, runId: string, status: string): Promise<Shown> {
  await expect.poll(async () => (await show(server, runId)).status).toBe(status);
  return show(server, runId);
}

interface Shown {
  readonly status: string;
  readonly steps: readonly { readonly path: string; readonly output_data: unknown; readonly attempt: number }[];
}

async function show(server: KilledServer, runId: string): Promise<Shown> {
  return (await server.get(`/runs/${runId}?whole=true`)) as Shown;
}

test("what an answer and an event carry is kept, also where the process dies as soon as it has said so", async () => {
  const { server, runId } = await startGated();
  const large = "x".repeat(100_000);
  const { response: answered } = await server.post(`/approvals/${runId}:ok/approve`, { edited_data: { large } });
  await server.kill();
  expect(answered.status).toBe(200);
  await server.start();
  await untilStatus(server, runId, "waiting");
  const { response: told } = await server.post(`/runs/${runId}/signals`, { name: "paid", payload: { large } });
  await server.kill();
  expect(told.status).toBe(202);
  await server.start();
  const run = await untilStatus(server, runId, "completed");
  const outputs = Object.fromEntries(run.steps.map(({ path, output_data: output }) => [path, output]));
  expect(outputs).toMatchObject({ ok: { large }, event: { large } });
  expect(await server.stop()).toBe(0);
});

test("an answer that comes while a new process takes the data over counts once, whoever hears it", async () => {
  const { server, runId } = await startGated();
  await server.kill();
  const asking = Array.from({ length: 20 }, (_, n) =>
    server.post(`/approvals/${runId}:ok/approve`, { edited_data: { n } }),
  );
  const resuming = Array.from({ length: 5 }, () => server.post(`/runs/${runId}/resume`, {}));
  await server.start();
  const replies = await Promise.all(asking);
  await Promise.all(resuming);
  const winners = replies.flatMap(({ response }, n) => (response.status === 200 ? [n] : []));
  expect(winners).toHaveLength(1);
  expect(new Set(replies.map(({ response }) => response.status))).toEqual(new Set([200, 409]));
  const run = await untilStatus(server, runId, "waiting");
  expect(run.steps.find(({ path }) => path === "ok")?.output_data).toEqual({ n: winners[0] });
  expect(await server.stop()).toBe(0);
});

test("of answers through the API and through other processes at the same moment one counts", async () => {
  const { server, cwd, runId } = await startGated();
  const url = await server.url;
  const throughApi = () =>
    server
      .post(`/approvals/${runId}:ok/approve`, { edited_data: "api" })
      .then(({ response }) => response.status === 200);
  const throughOwner = (verb: string) => pawl([verb, `${runId}:ok`], { cwd }).then(({ code }) => code === 0);
  const throughUrl = () =>
    pawl(["approve", `${runId}:ok`, "--url", url, "--edit", '"url"'], { cwd }).then(({ code }) => code === 0);
  const won = await Promise.all([throughOwner("approve"), throughOwner("reject"), throughUrl(), throughApi()]);
  expect(won.filter(Boolean)).toHaveLength(1);
  const status = won[1] === true ? "failed" : "waiting";
  const run = await untilStatus(server, runId, status);
  if (won[3] === true) expect(run.steps.find(({ path }) => path === "ok")?.output_data).toBe("api");
  if (won[2] === true) expect(run.steps.find(({ path }) => path === "ok")?.output_data).toBe("url");
  expect(await server.stop()).toBe(0);
});
