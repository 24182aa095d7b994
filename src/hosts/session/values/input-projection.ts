import { evaluate } from "../../../core/expressions/evaluate.ts";
import { readPath } from "../../../core/expressions/read-path.ts";
import type { Scope } from "../../../core/expressions/scope.ts";
import type { Graph } from "../../../core/graph/graph.ts";
import type { Json, JsonObject } from "../../../core/json.ts";

/** Regular expressions, and JSON in texts. */
export type TextTools = Pick<Scope, "matches" | "parse">;

/** The values that control reads of a run's input, recorded with its start. */
export function inputProjection(
  graph: Graph,
  input: JsonObject,
  tools: TextTools = {},
): { readonly projected?: JsonObject } {
  const { project } = graph.input;
  if (project === undefined) return {};
  const projected: [string, Json][] = [];
  for (const [key, expr] of Object.entries(project)) {
    const value = evaluate(expr, {
      ...tools,
      path: ({ root, path, readsJson }) => (root === "input" ? readPath(input, path, readsJson, tools) : undefined),
    });
    if (value !== undefined) projected.push([key, value]);
  }
  return { projected: Object.fromEntries(projected) };
}
