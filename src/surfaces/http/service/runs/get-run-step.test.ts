import { expect, test } from "vitest";
import { codeOf, dataOf } from "../../../../../test/fakes/http-answers.ts";
import { HttpWorld } from "../../../../../test/fakes/http-world.ts";
import { task, uhlpGraph } from "../../../../../test/fakes/uhlp-graph.ts";
import { fail, succeed } from "../../../../../test/faults/world.ts";
import type { JsonObject } from "../../../../core/json.ts";

const LEADS = `
name: leads
steps:
  - id: enrich
    prompt: "Look at {input.name}"
    parallel_over: "input.leads"
    retry: { max_attempts: 2, backoff: fixed, on_failure: skip }
  - id: sum
    depends_on: [enrich]
    prompt: "Sum up"
  - id: check
    depends_on: [sum]
    type: approval
    approval_config: { message: "Is it?", show_data: "{steps.enrich.output}" }
`;

const LARGE = "x".repeat(70_000);

async function withLeads(): Promise<{ readonly world: HttpWorld; readonly id: string }> {
  const world = new HttpWorld([uhlpGraph({ name: "odd", steps: [task("a/b c")] })], {
    agent: { provider: "simulated" },
    recordsInput: true,
    plays: {
      enrich: ({ path }) =>
        path === "enrich[1]"
          ? fail("BAD_LEAD", { message: "bad ".repeat(1_000), details: { why: "nobody knows" } })
          : succeed({ fit: true }),
      sum: () => succeed({ text: LARGE }, 3),
    },
  });
  const { run_id: id } = await dataOf(
    world.post("/workflows/run", { workflow: LEADS, input: { leads: [{ name: "Ada" }, { name: "Bob" }] } }),
  );
  await world.world.host.settled(String(id));
  return { world, id: String(id) };
}

function step(world: HttpWorld, id: string, path: string, query = ""): Promise<JsonObject> {
  return dataOf(world.request(`/runs/${id}/steps/${path.split("/").map(encodeURIComponent).join("/")}${query}`));
}

test("an item is shown with what it was given and gave, and its place in the definition", async () => {
  const { world, id } = await withLeads();
  const shown = await step(world, id, "enrich[0]");
  expect(shown).toMatchObject({
    run_id: id,
    run_status: "awaiting_approval",
    path: "enrich[0]",
    status: "completed",
    input: { prompt: "Look at Ada" },
    input_prompt: "Look at Ada",
    output_data: { fit: true },
    output_bytes: 12,
    place: { line: 4, column: expect.any(Number) },
    attempts: [{ attempt: 1, status: "completed", error: null }],
    violations: [],
  });
  expect(shown["as_of"]).toBe(shown["last_seq"]);
  const graph = await dataOf(world.request(`/runs/${id}/graph?called=${String(shown["graph"])}`));
  expect(graph).toMatchObject({ name: "leads" });
});

test("an attempt that failed tells its error in full, a page of steps the beginning of it", async () => {
  const { world, id } = await withLeads();
  const { attempts, error } = await step(world, id, "enrich[1]");
  expect(attempts).toMatchObject([
    { status: "failed", error: { code: "BAD_LEAD", message: "bad ".repeat(1_000) }, details: { why: "nobody knows" } },
  ]);
  expect(error).toMatchObject({ message: "bad ".repeat(1_000) });
  const { items } = await dataOf(world.request(`/runs/${id}/steps?under=enrich&status=failed`));
  expect(items).toMatchObject([{ error: { message: `${"bad ".repeat(500)}...` } }]);
});

test("a large output is left out until all of it is asked for", async () => {
  const { world, id } = await withLeads();
  const shown = await step(world, id, "sum");
  expect(shown).toMatchObject({ step_id: "sum", output_bytes: 70_011, cost_usd: 0.000003 });
  expect(shown).not.toHaveProperty("output_data");
  expect(await step(world, id, "sum", "?whole=true")).toMatchObject({ output_data: { text: LARGE } });
});

test("a fan-out is shown as one, with a list of what its items gave, and a question with what a person sees", async () => {
  const { world, id } = await withLeads();
  expect(await step(world, id, "enrich")).toMatchObject({
    status: "failed",
    items: { total: 2, by_status: { completed: 1, failed: 1 } },
    output_data: [{ fit: true }, null],
    input: null,
    attempts: [],
  });
  expect(await step(world, id, "check")).toMatchObject({
    kind: "approve",
    input: expect.anything(),
    input_prompt: null,
    output_data: null,
  });
});

test("a step is told as of an event, and one that is not there is refused", async () => {
  const { world, id } = await withLeads();
  expect(await step(world, id, "enrich[0]", "?as_of=1")).toMatchObject({
    as_of: 1,
    run_status: "running",
    status: "running",
    output_data: null,
  });
  for (const path of ["enrich[2]", "other", "enrich[0]/inner"])
    expect(await codeOf(world.request(`/runs/${id}/steps/${encodeURIComponent(path)}`))).toBe("STEP_NOT_FOUND");
});

test("a path may have any characters that an id has", async () => {
  const { world } = await withLeads();
  const { run_id: id } = await dataOf(world.post("/workflows/run/sync", { workflow: "odd" }));
  const { items } = await dataOf(world.request(`/runs/${String(id)}/steps`));
  const [{ path } = {}] = items as readonly JsonObject[];
  expect(path).toBe("a%2Fb%20c#1");
  expect(await step(world, String(id), String(path))).toMatchObject({ path, step_id: "a/b c", status: "completed" });
});
