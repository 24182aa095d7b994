import { describe, expect, test } from "vitest";
import { checkGraph } from "../../core/graph/check-graph.ts";
import { loadDefinition } from "../load-definition.ts";
import { renderProblem } from "../render-problem.ts";

const range = (count: number) => Array.from({ length: count }, (_, index) => index);
const agents = [{ name: "A" }];
const nested = (levels: number, times: number) =>
  range(levels).map((level) => ({
    name: `w${level}`,
    steps: Array.from({ length: times }, () => (level === levels - 1 ? "A" : `w${level + 1}`)),
  }));

const hostile: { readonly [name: string]: string } = {
  "lists in lists": `{"agents": ${"[".repeat(10_000)}`,
  "deep maps": `{"agents": [${'{"name": '.repeat(90)}1${"}".repeat(90)}]}`,
  "workflows that double at every level": JSON.stringify({ agents, workflows: nested(10, 2) }),
  "workflows 50 levels deep": JSON.stringify({ agents, workflows: nested(50, 1) }),
  "workflows 50 levels deep, innermost first": JSON.stringify({ agents, workflows: nested(50, 1).reverse() }),
  "501 steps": JSON.stringify({ agents, workflows: [{ name: "w", steps: range(501).map(() => "A") }] }),
  "10,000 steps that nobody knows": JSON.stringify({ workflows: [{ name: "w", steps: range(10_000).map(String) }] }),
  "a long prompt that many steps name": JSON.stringify({
    agents: [{ name: "A", system_prompt: "x".repeat(900_000) }],
    workflows: [{ name: "w", steps: range(400).map(() => "A") }],
  }),
  "3,000 agents of one name": JSON.stringify({ agents: range(3_000).map(() => ({ name: "A" })) }),
  "2,000 workflows": JSON.stringify({ agents, workflows: range(2_000).map((i) => ({ name: `w${i}`, steps: [] })) }),
  "nodes that all lead to each other": JSON.stringify({
    agents,
    workflows: [
      {
        name: "g",
        nodes: range(40).map((i) => ({ node_id: `${i}`, name: "A" })),
        edges: range(40).flatMap((i) => range(40).map((j) => ({ from: `${i}`, to: `${j}` }))),
      },
    ],
  }),
  "a schema that refers elsewhere": JSON.stringify({
    agents: [{ name: "A", output_schema: { $ref: "file:///etc/passwd" } }],
  }),
  "more than 1 MB": JSON.stringify({ agents: [{ name: "A", system_prompt: "x".repeat(1_100_000) }] }),
};

describe("hostile text gives problems with places and never an exception", () => {
  for (const [name, text] of Object.entries(hostile)) {
    test(name, async () => {
      const { graph, parts, problems } = await loadDefinition({ text }, { select: "all" });
      expect([graph, parts]).toEqual([undefined, undefined]);
      expect(problems.filter((problem) => problem.severity === "error" && problem.place !== undefined)).not.toEqual([]);
      for (const problem of problems) expect(renderProblem(problem, text)).not.toBe("");
    });
  }
});

test("names that every object has are names like any other", async () => {
  const names = ["__proto__", "constructor", "hasOwnProperty", "toString"];
  const list = (each: (name: string) => string) => `[${names.map(each).join(", ")}]`;
  const text = `{"clients": ${list((name) => `{"client_id": "${name}", "command": "x", "env": {"__proto__": "1"}}`)},
    "agents": ${list((name) => `{"name": "${name}", "client_ids": ["${name}"]}`)},
    "workflows": [{"name": "valueOf", "steps": ${JSON.stringify(names)}}]}`;
  const { graph, problems } = await loadDefinition({ text });
  expect(problems).toEqual([]);
  expect(graph?.flow.steps.map(({ id }) => id)).toEqual([...names, "result"]);
  expect(Object.keys(graph?.settings["mcp_servers"] ?? {})).toEqual(names);
  expect(graph === undefined ? undefined : checkGraph(graph)).toEqual([]);
});

test("text that is no UTF-8 is warned about", async () => {
  const text = new TextDecoder().decode(
    Uint8Array.from([...'{"agents": [{"name": "A', 0xff].map(toByte).concat([34, 125, 93, 125])),
  );
  const { graph, problems } = await loadDefinition({ text });
  expect(problems.map(({ code, severity }) => [code, severity])).toEqual([["FILE_NOT_TEXT", "warning"]]);
  expect(graph?.name).toBe("A\uFFFD");
});

function toByte(part: string | number): number {
  return typeof part === "number" ? part : part.charCodeAt(0);
}

test("ten levels of workflows are allowed", async () => {
  const { graph, problems } = await loadDefinition(
    { text: JSON.stringify({ agents, workflows: nested(10, 1) }) },
    { select: { workflow: "w0" } },
  );
  expect(problems).toEqual([]);
  expect(graph === undefined ? undefined : checkGraph(graph)).toEqual([]);
});
