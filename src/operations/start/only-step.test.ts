import { expect, test } from "vitest";
import type { Step } from "../../core/graph/graph.ts";
import { onlyStep } from "./only-step.ts";

function definitionOf(...steps: Step[]) {
  return {
    text: "",
    graph: {
      format: 1 as const,
      dialect: "uhlp" as const,
      name: "w",
      input: { declared: [], defaults: {}, schema: { type: "object" } },
      flow: { kind: "machine" as const, start: steps[0]?.id ?? "", steps },
      limits: {},
      ending: { deadLetter: true },
      envAllowed: [],
      settings: {},
    },
  };
}

const CHARGE: Step = {
  kind: "task",
  id: "charge",
  executor: "mcp",
  input: {
    op: "object",
    entries: {
      tool: { op: "literal", value: "shop.charge" },
      arguments: { op: "path", root: "steps", name: "a", path: [] },
    },
  },
  transitions: [{ on: "success", to: { end: "success" } }],
};

test("a step alone gets the run's input in the place of what was mapped, and leads nowhere", () => {
  const { graph } = onlyStep(definitionOf({ kind: "set", id: "a" }, CHARGE), "charge");
  expect(graph.flow).toEqual({
    kind: "machine",
    start: "charge",
    steps: [
      {
        kind: "task",
        id: "charge",
        executor: "mcp",
        input: {
          op: "object",
          entries: {
            tool: { op: "literal", value: "shop.charge" },
            arguments: { op: "path", root: "input", path: [] },
          },
        },
      },
    ],
  });
  expect(graph.input.schema).toBeUndefined();
});

test("a step of a loop reads its item from the run's input, under `item` and `index`", () => {
  const entries = (root: "item" | "input", index: "index" | "input", before: readonly string[][]) => ({
    url: {
      op: "text" as const,
      parts: ["/pets/", { value: { op: "path" as const, root, path: [...(before[0] ?? []), "id"] }, written: "" }],
    },
    headers: {
      op: "object" as const,
      entries: { "x-row": { op: "path" as const, root: index, path: before[1] ?? [] } },
    },
  });
  const step = (given: ReturnType<typeof entries>): Step => ({
    kind: "task",
    id: "ask",
    executor: "http",
    input: { op: "object", entries: given },
  });
  const { graph } = onlyStep(definitionOf(step(entries("item", "index", []))), "ask");
  expect(graph.flow.steps).toEqual([step(entries("input", "input", [["item"], ["index"]]))]);
});

test("a step is found inside the flow that only wraps it, and inside blocks", () => {
  const wrapped: Step = { kind: "flow", id: "charge", flow: { kind: "machine", start: "charge", steps: [CHARGE] } };
  expect(onlyStep(definitionOf(wrapped), "charge").graph.flow.steps[0]?.kind).toBe("task");
  const block: Step = { kind: "flow", id: "loop", flow: { kind: "machine", start: "charge", steps: [CHARGE] } };
  expect(onlyStep(definitionOf(block), "charge").graph.flow.steps[0]?.kind).toBe("task");
});

test("a step that is not there is named, with those that are", () => {
  expect(() => onlyStep(definitionOf(CHARGE), "chrage")).toThrow(/no step "chrage"/);
});
