import { expect, test, vi } from "vitest";
import { application } from "../end-to-end/support/application.ts";
import { pawl, startPawl } from "../end-to-end/support/pawl.ts";
import { startServer } from "../end-to-end/support/server.ts";
import { items, startSlowSandstorm } from "./capacity-world.ts";

const MANY = "name: many\nsteps:\n  - { id: ask, prompt: '{input.name}', parallel_over: input.items }\n";
const PATIENT = { timeout: 20_000, interval: 20 };

test("after a kill -9 in the middle the items that waited are simply sent again, and none is lost", async () => {
  const { server, places } = await startSlowSandstorm({ places: 10, holdMs: 100 });
  const cwd = application({ "many.yaml": MANY, "input.json": JSON.stringify(items(120)) });
  const env = { SANDSTORM_URL: server.url };
  const killed = startPawl(["run", "many.yaml", "--input", "input.json"], { cwd, env });
  const runId = await killed.runId();
  await vi.waitFor(() => expect(places.taken.length).toBeGreaterThan(40), PATIENT);
  killed.kill("SIGKILL");
  await killed.ended;

  const resumed = await pawl(["runs", "resume", runId, "--json"], { cwd, env });
  expect(resumed.code).toBe(0);
  const { data } = JSON.parse((await pawl(["runs", "show", runId, "--json"], { cwd, env })).stdout);
  expect(data.status).toBe("completed");
  expect(data.outputs.ask.filter((output: unknown) => output !== null).length).toBe(120);
  expect(new Set(places.taken.map(({ by }) => by)).size).toBe(120);
  // Each that was in flight at the kill, and no other.
  expect(places.taken.length).toBeLessThanOrEqual(130);
});

test("after a kill -9 what may be done only once and had waited is sent, and only what was in flight fails", async () => {
  const { server, places } = await startSlowSandstorm({ places: 4, holdMs: 1_000 });
  const once = MANY.replace(" }", ", at_most_once: true, retry: { max_attempts: 1, on_failure: skip } }");
  const cwd = application({ "many.yaml": once, "input.json": JSON.stringify(items(12)) });
  const env = { SANDSTORM_URL: server.url, PAWL_CAPACITY__LIMITS: JSON.stringify({ [`${server.url}/`]: 4 }) };
  const killed = startPawl(["run", "many.yaml", "--input", "input.json"], { cwd, env });
  const runId = await killed.runId();
  await vi.waitFor(() => expect(places.taken.length).toBe(4), PATIENT);
  killed.kill("SIGKILL");
  await killed.ended;
  await pawl(["runs", "resume", runId, "--json"], { cwd, env });
  const { data } = JSON.parse((await pawl(["runs", "show", runId, "--json"], { cwd, env })).stdout);
  expect(data.status).toBe("partial");
  expect(data.outputs.ask.filter((output: unknown) => output !== null)).toHaveLength(8);
  expect(places.taken).toHaveLength(12);
});

test("an attempt says how much of its time its calls waited for a place", async () => {
  const { server } = await startSlowSandstorm({ places: 1, holdMs: 300 });
  const cwd = application({ "workflows/many.yaml": MANY });
  const env = { SANDSTORM_URL: server.url, PAWL_CAPACITY__LIMITS: JSON.stringify({ [`${server.url}/`]: 1 }) };
  const { url } = await startServer([], { cwd, env });
  const body = JSON.stringify({ workflow: "many", input: items(3) });
  const headers = { "content-type": "application/json" };
  const started = await fetch(`${url}/workflows/run/sync`, { method: "POST", headers, body });
  const { data: run } = (await started.json()) as { data: { run_id: string } };
  const answer = await fetch(`${url}/runs/${run.run_id}/steps?under=ask`);
  const { data } = (await answer.json()) as { data: { items: { attempts: { waited_seconds: number }[] }[] } };
  const waited = data.items
    .map(({ attempts: [first] }) => first?.waited_seconds ?? 0)
    .toSorted((one, two) => one - two);
  expect(waited[0]).toBe(0);
  expect(waited[1]).toBeGreaterThan(0.25);
  expect(waited[2]).toBeGreaterThan(0.55);
});

test("what a server's runs wait for is in `runs show`, also for another process, in the live view and in the metrics", async () => {
  const { server, places } = await startSlowSandstorm({ places: 2, holdMs: 2_000 });
  const cwd = application({ "many.yaml": MANY, "input.json": JSON.stringify(items(12)) });
  const env = { SANDSTORM_URL: server.url, PAWL_CAPACITY__LIMITS: JSON.stringify({ [`${server.url}/`]: 2 }) };
  const served = await startServer([], { cwd, env });
  const run = ["run", "many.yaml", "--input", "input.json", "--detach"];
  const refused = await pawl([...run, "--priority", "11"], { cwd, env });
  expect(refused.stderr).toContain("It must be a whole number from -10 to 10.");
  const started = await pawl([...run, "--priority", "-2"], { cwd, env });
  const [, runId = ""] = /([0-9a-f-]{36})/.exec(started.stdout + started.stderr) ?? [];
  await vi.waitFor(() => expect(places.taken.length).toBe(2), PATIENT);

  const shown = await pawl(["runs", "show", runId], { cwd, env });
  expect(shown.stdout).toContain(`waiting for capacity: 2 of 2 at ${server.url}, 10 waiting`);
  const remote = await pawl(["runs", "show", runId, "--url", served.url, "--json"], { cwd, env });
  const waits = {
    pool: server.url,
    in_flight: 2,
    width: 2,
    waiting: 10,
    waiting_in_all: 10,
    closed_until: null,
  };
  expect(JSON.parse(remote.stdout).data.capacity_waits).toEqual([waits]);
  const metrics = await (await fetch(`${served.url}/metrics`)).text();
  expect(metrics).toContain(`pawl_capacity_width{pool="${server.url}"} 2`);
  expect(metrics).toContain(`pawl_capacity_waiting{pool="${server.url}"} 10`);
  expect(metrics).toContain("# TYPE pawl_capacity_refused_total counter");

  const watching = startPawl(["runs", "watch", runId, "--url", served.url], { cwd, env });
  await watching.said(`waiting for capacity: 2 of 2 at ${server.url}`);
});
