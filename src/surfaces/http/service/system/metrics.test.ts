import { expect, test } from "vitest";
import { HttpWorld, type HttpWorldOptions } from "../../../../../test/fakes/http-world.ts";
import { parsePrometheus, type Sample } from "../../../../../test/fakes/prometheus-text.ts";
import { task, uhlpGraph } from "../../../../../test/fakes/uhlp-graph.ts";
import { fail, succeed } from "../../../../../test/faults/world.ts";
import { describeGauges } from "../../../../app/server/describe-gauges.ts";
import type { JsonObject } from "../../../../core/json.ts";
import { createServiceMetrics } from "../../../../telemetry/metrics/service-metrics.ts";

const ADMIN = { "x-api-key": "configured" };
const GATE = `
name: "PLANTED-workflow-name"
steps:
  - id: ask
    type: approval
    approval_config: { message: "PLANTED-question" }
`;

async function newWorld(options: HttpWorldOptions = {}, tenantLabel = false) {
  const opened: HttpWorld[] = [];
  // What is counted at the moment of asking is counted in the world that is made of this.
  const gauges = () =>
    opened.flatMap((world) => describeGauges(world.parts.app, { ...world, quotas: world.parts.quotas, tenantLabel }));
  const names = [
    "pawl_runs",
    "pawl_deliveries",
    "pawl_approvals_open",
    "pawl_requests_waiting",
    "pawl_event_streams_open",
  ];
  const metrics = await createServiceMetrics({
    tenantLabel,
    gauges: names.map((name) => ({
      name,
      help: name,
      ...(name === "pawl_runs" || name === "pawl_deliveries" ? { label: "status" } : {}),
      read: async () =>
        (await gauges()
          .find((gauge) => gauge.name === name)
          ?.read()) ?? new Map(),
    })),
  });
  const world = new HttpWorld([uhlpGraph({ name: "hello", steps: [task("work")] })], {
    agent: { provider: "simulated" },
    metrics,
    ...options,
  });
  opened.push(world);
  return world;
}

async function read(world: HttpWorld, headers: Record<string, string> = {}): Promise<readonly Sample[]> {
  const response = await world.request("/metrics", { headers });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
  return parsePrometheus(await response.text());
}

function countOf(samples: readonly Sample[], name: string, labels: Readonly<Record<string, string>> = {}): number {
  const found = samples.filter(
    (sample) => sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
  );
  return found.reduce((sum, { value }) => sum + value, 0);
}

test("what has happened is counted, and reads as Prometheus reads it", async () => {
  let calls = 0;
  const world = await newWorld({
    plays: {
      work: () => {
        calls += 1;
        if (calls === 3) return fail("BROKEN");
        const usage = { model: "acme:one", input_tokens: 100, output_tokens: 7 };
        return { ...succeed("out", calls === 1 ? 12_500 : 0), usage, ...(calls === 2 ? { costMicro: null } : {}) };
      },
    },
  });
  for (let n = 0; n < 3; n += 1) await world.post("/workflows/run/sync", { workflow: "hello" });
  await world.post("/workflows/run/sync", { workflow: GATE });
  await world.request("/runs/nothing");
  const samples = await read(world);
  expect(countOf(samples, "pawl_runs_started_total")).toBe(4);
  expect(countOf(samples, "pawl_runs_finished_total", { status: "completed" })).toBe(2);
  expect(countOf(samples, "pawl_runs_finished_total", { status: "failed" })).toBe(1);
  expect(countOf(samples, "pawl_run_duration_seconds_count")).toBe(3);
  expect(countOf(samples, "pawl_step_attempts_total", { executor: "code", outcome: "succeeded" })).toBe(2);
  expect(countOf(samples, "pawl_step_attempts_total", { executor: "code", outcome: "failed" })).toBe(1);
  expect(countOf(samples, "pawl_step_duration_seconds_count", { executor: "code" })).toBe(3);
  expect(countOf(samples, "pawl_cost_usd_total")).toBeCloseTo(0.0125);
  expect(countOf(samples, "pawl_unpriced_attempts_total")).toBe(1);
  expect(countOf(samples, "pawl_tokens_total", { direction: "input", model: "acme:one" })).toBe(200);
  expect(countOf(samples, "pawl_tokens_total", { direction: "output" })).toBe(14);
  expect(countOf(samples, "pawl_approvals_total", { event: "requested" })).toBe(1);
  expect(countOf(samples, "pawl_runs", { status: "awaiting_approval" })).toBe(1);
  expect(countOf(samples, "pawl_approvals_open")).toBe(1);
  expect(countOf(samples, "pawl_deliveries", { status: "pending" })).toBe(0);
  const sync = { method: "POST", route: "/workflows/run/sync" };
  expect(countOf(samples, "pawl_http_requests_total", { ...sync, status: "200" })).toBe(3);
  expect(countOf(samples, "pawl_http_requests_total", { ...sync, status: "202" })).toBe(1);
  expect(countOf(samples, "pawl_http_requests_total", { route: "/runs/:id", status: "404" })).toBe(1);
  expect(samples.some(({ name }) => name.startsWith("nodejs_eventloop_lag"))).toBe(true);
  const text = JSON.stringify(samples);
  expect(text).not.toMatch(/PLANTED|hello|nothing|BROKEN/);
});

test("whatever is sent, the number of series is bounded", async () => {
  const world = await newWorld({
    plays: { work: ({ runId }) => ({ ...succeed(1), usage: { model: `m:${runId}`, input_tokens: 1 } }) },
  });
  for (let n = 0; n < 130; n += 1) {
    await world.post("/workflows/run/sync", { workflow: "hello" });
    await world.request(`/made/up/${n}`, { method: n % 2 === 0 ? "GET" : "PROPFIND" });
  }
  const samples = await read(world);
  expect(samples.filter(({ name }) => name === "pawl_tokens_total")).toHaveLength(101);
  expect(countOf(samples, "pawl_tokens_total", { model: "other" })).toBe(30);
  const unknown = samples.filter(
    ({ name, labels }) => name === "pawl_http_requests_total" && labels["route"] === "(none)",
  );
  expect(unknown.map(({ labels }) => labels["method"]).sort()).toEqual(["GET", "other"]);
});

test("open approvals are counted however many runs wait, also beside other steps", async () => {
  const world = await newWorld();
  const both = `${GATE}  - id: more\n    type: approval\n    approval_config: { message: "and this" }\n`;
  for (let n = 0; n < 501; n += 1) await world.post("/workflows/run/sync", { workflow: GATE });
  const made = await world.post("/workflows/run/sync", { workflow: both });
  const { data } = (await made.json()) as { readonly data: JsonObject };
  expect(countOf(await read(world), "pawl_approvals_open")).toBe(503);
  await world.post(`/approvals/${data["run_id"]}:more/approve`, {});
  expect(countOf(await read(world), "pawl_approvals_open")).toBe(502);
  await world.post(`/runs/${data["run_id"]}/cancel`, {});
  await expect.poll(async () => countOf(await read(world), "pawl_approvals_open")).toBe(501);
});

test("they are for keys that may read and belong to no tenant, or open where that is configured", async () => {
  const world = await newWorld({ server: { api_key: "configured" } }, true);
  expect((await world.request("/metrics")).status).toBe(401);
  const made = await world.post("/keys", { name: "t", scopes: ["admin"], tenant_id: "acme" }, ADMIN);
  const { data } = (await made.json()) as { readonly data: JsonObject };
  const tenant = { "x-api-key": String(data["key"]) };
  expect((await world.request("/metrics", { headers: tenant })).status).toBe(403);
  await world.post("/workflows/run/sync", { workflow: "hello" }, tenant);
  expect(countOf(await read(world, ADMIN), "pawl_runs_started_total", { tenant: "acme" })).toBe(1);
  expect((await world.request("/metrics", { method: "POST", headers: ADMIN })).status).toBe(405);
  const open = await newWorld({ server: { api_key: "configured" }, metricsAccess: "open" });
  await read(open);
});
