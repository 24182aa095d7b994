import { expect, test } from "vitest";
import type { Graph } from "../../../core/graph/graph.ts";
import { liftControls } from "../../../core/graph/lift-controls.ts";
import { inputProjection } from "./project-output.ts";

const GRAPH: Graph = liftControls({
  format: 1,
  dialect: "uhlp",
  name: "orders",
  input: { declared: [], defaults: {} },
  flow: {
    kind: "machine",
    start: "only",
    steps: [
      {
        id: "only",
        kind: "respond",
        value: { op: "literal", value: null },
        when: {
          op: "call",
          fn: "matches",
          args: [
            { op: "path", root: "input", path: ["body", "id"], readsJson: true },
            { op: "literal", value: "^o-" },
          ],
        },
      },
    ],
  },
  limits: {},
  ending: { deadLetter: false },
  envAllowed: [],
  settings: {},
} as Graph);

test("a condition on the input may match a regular expression, and read JSON in a text", () => {
  const parsed: string[] = [];
  const projection = inputProjection(
    GRAPH,
    { body: '{"id": "o-1"}' },
    {
      matches: (text, pattern) => new RegExp(pattern).test(text),
      parse: (text) => {
        parsed.push(text);
        return JSON.parse(text);
      },
    },
  );
  expect(Object.values(projection.projected ?? {})).toEqual([true]);
  expect(parsed).toEqual(['{"id": "o-1"}']);
});
