import { expect, test } from "vitest";
import { fail, type Play, succeed, World } from "../../../test/faults/world.ts";
import type { Graph } from "../../core/graph/graph.ts";
import { liftControls } from "../../core/graph/lift-controls.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { readRunResult } from "../../operations/runs/read-run-result.ts";
import { loadDefinition } from "../load-definition.ts";

interface Given {
  readonly file: JsonObject;
  readonly select?: string;
  readonly callable?: { readonly [name: string]: Graph };
  readonly plays?: { readonly [stepId: string]: Play };
}

/** Runs a workflow on the real host, in memory: who was asked what, in order, and how it ended. */
async function ask({ file, select, callable = {}, plays = {} }: Given) {
  const { graph, problems } = await loadDefinition(
    { text: JSON.stringify(file) },
    { ...(select === undefined ? {} : { select: { name: select } }), hasWorkflow: async (name) => name in callable },
  );
  expect(problems).toEqual([]);
  if (graph === undefined) throw new Error("It has no graph.");
  const asked: (readonly [agent: string, message: Json | undefined, step: Json | undefined])[] = [];
  const answer: Play = ({ input }) => {
    const { agent, message, step } = input as JsonObject;
    asked.push([String((agent as JsonObject)["name"]), message, step]);
    return succeed({ text: `${String((agent as JsonObject)["name"])}(${String(message)})` });
  };
  const stepIds = ["A", "B", "C", "B (2)", "A (2)", "a", "b", "c", "d"];
  const world = new World({ plays: { ...Object.fromEntries(stepIds.map((id) => [id, answer])), ...plays }, callable });
  const record = await world.run(liftControls(graph), { message: "Hi" });
  expect(world.defects).toEqual([]);
  const { outcome } = await readRunResult(world, record);
  return { asked, record, output: outcome.is === "completed" ? outcome.output : undefined, calls: world.calls };
}

const agents = [{ name: "A" }, { name: "B" }, { name: "C" }];

test("what one agent says is what the next is asked", async () => {
  const { asked, record, output } = await ask({ file: { agents, workflows: [{ name: "W", steps: ["A", "B"] }] } });
  expect(asked).toEqual([
    ["A", "Hi", 1],
    ["B", "A(Hi)", 2],
  ]);
  expect(record.status).toBe("completed");
  expect(output).toEqual({ final_message: "B(A(Hi))", status: "completed" });
});

test("a workflow's word of history wins over its agents', and the inner one over the outer; an agent keeps its temperature", async () => {
  const heard: unknown[] = [];
  const answer: Play = ({ input }) => {
    const { name, include_history, temperature } = (input as JsonObject)["agent"] as JsonObject;
    heard.push([name, include_history, temperature]);
    return succeed({ text: "" });
  };
  const file: JsonObject = {
    llms: [{ name: "cool", type: "llm", temperature: 0.1 }],
    agents: [
      { name: "A", llm_config_id: "cool" },
      { name: "B", include_history: true, temperature: 0.9 },
    ],
    workflows: [
      { name: "Inner", steps: ["A"], include_history: "False" },
      { name: "W", steps: ["A", "B", "Inner"], include_history: true },
      { name: "Own", steps: ["A", "B"] },
    ],
  };
  const plays = { A: answer, B: answer, "A (2)": answer };
  await ask({ file, select: "W", plays });
  await ask({ file, select: "Own", plays });
  expect(heard).toEqual([
    ["A", true, 0.1],
    ["B", true, 0.9],
    ["A", false, 0.1],
    ["A", undefined, 0.1],
    ["B", true, 0.9],
  ]);
});

test("an agent may stand twice in a sequence", async () => {
  const { asked } = await ask({ file: { agents, workflows: [{ name: "W", steps: ["A", "B", "A"] }] } });
  expect(asked.map(([, message]) => message)).toEqual(["Hi", "A(Hi)", "B(A(Hi))"]);
});

test("without steps nobody is asked, and the message is the result", async () => {
  const { calls, output } = await ask({ file: { workflows: [{ name: "W", steps: [] }] } });
  expect(calls).toEqual([]);
  expect(output).toEqual({ final_message: "Hi", status: "completed_empty" });
});

test("a workflow inside of one is asked what came before it, also where the same agents stand around it", async () => {
  const workflows = [
    { name: "Inner", steps: ["B", "A"] },
    { name: "W", steps: ["B", "Inner", "C"] },
  ];
  const { asked } = await ask({ file: { agents, workflows }, select: "W" });
  expect(asked).toEqual([
    ["B", "Hi", 1],
    ["B", "B(Hi)", 1],
    ["A", "B(B(Hi))", 2],
    ["C", "A(B(B(Hi)))", 3],
  ]);
});

test("in a graph several answers come one after the other, in the order of the edges", async () => {
  const nodes = ["a", "b", "c", "d"].map((id) => ({ node_id: id, name: id === "d" ? "C" : "A", type: "agent" }));
  const edges = [
    { from: "c", to: "d" },
    { from: "b", to: "d" },
    { from: "a", to: "b" },
    { from: "a", to: "c" },
  ];
  const { asked, output } = await ask({
    file: { agents, workflows: [{ name: "G", type: "graph_workflow", nodes, edges }] },
  });
  expect(asked.at(-1)).toEqual(["C", "A(A(Hi))\n\nA(A(Hi))", 4]);
  expect(output).toMatchObject({ final_message: "C(A(A(Hi))\n\nA(A(Hi)))" });
});

test("a workflow of another dialect gets the message, and its answer goes on", async () => {
  for (const [output, next] of [
    ["a text", "a text"],
    [{ final_message: "final", text: "t" }, "final"],
    [{ message: "m" }, "m"],
    [{ city: "Paris" }, '{"city": "Paris"}'],
  ] as const) {
    const { asked } = await ask({
      file: { agents, workflows: [{ name: "W", steps: ["A", "lookup", "B"] }] },
      callable: { lookup: oneStep(output) },
    });
    expect(asked.at(-1)).toEqual(["B", next, 3]);
  }
});

test("where a step fails the later ones are not run", async () => {
  const { asked, record } = await ask({
    file: { agents, workflows: [{ name: "W", steps: ["A", "B", "C"] }] },
    plays: { B: () => fail("AGENT_NO_TEXT") },
  });
  expect(asked.map(([name]) => name)).toEqual(["A"]);
  expect([record.status, record.error?.code]).toEqual(["failed", "AGENT_NO_TEXT"]);
});

function oneStep(value: Json): Graph {
  return {
    format: 1,
    dialect: "sandcastle",
    name: "lookup",
    input: { declared: [], defaults: {} },
    flow: { kind: "dag", steps: [{ id: "x", kind: "set", value: { op: "literal", value } }], result: "x" },
    limits: {},
    ending: { deadLetter: false },
    envAllowed: [],
    settings: {},
  };
}
