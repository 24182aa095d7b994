import type { OutputOf } from "pawl/client";

type Graph = OutputOf<"GET /runs/{id}/graph">;
type Flow = Graph["flow"];
type Step = Flow["steps"][number];

/** What a fork may change of a step, as its definition has it. Absent: the definition does not say it. */
export interface WrittenStep {
  readonly id: string;
  readonly line: number | undefined;
  readonly prompt?: string;
  readonly model?: string;
  readonly maxTurns?: number;
}

/** The step of a path in the graph of its run; undefined where the path leads into another workflow. */
export function findWritten(graph: Graph, path: string): WrittenStep | undefined {
  let flow: Flow | undefined = graph.flow;
  let step: Step | undefined;
  for (const segment of path.split("/")) {
    if (segment === "~catch" || segment === "~finally") {
      flow = segment === "~catch" ? step?.catch : step?.finally;
      continue;
    }
    const id = segment.replace(/[[#]\d+\]?$/, "").replace(/\[\d+\]$/, "");
    step = flow?.steps.find((each) => each.id === id);
    flow = step?.kind === "flow" ? step.flow : undefined;
  }
  if (step === undefined) return undefined;
  const line = step.place?.line;
  if (step.kind !== "task" || step.input.op !== "object") return { id: step.id, line };
  const { prompt, model, max_turns: turns } = step.input.entries;
  const [promptText, modelText, turnCount] = [textOf(prompt), textOf(model), literalOf(turns)];
  return {
    id: step.id,
    line,
    ...(promptText === undefined ? {} : { prompt: promptText }),
    ...(modelText === undefined ? {} : { model: modelText }),
    ...(typeof turnCount === "number" ? { maxTurns: turnCount } : {}),
  };
}

type Expr = Extract<Step, { kind: "task" }>["input"];

function literalOf(expr: Expr | undefined): unknown {
  return expr?.op === "literal" ? expr.value : undefined;
}

/** The text of a prompt as its author wrote it, with its places still open. */
function textOf(expr: Expr | undefined): string | undefined {
  const literal = literalOf(expr);
  if (typeof literal === "string") return literal;
  if (expr?.op !== "text") return undefined;
  return expr.parts.map((part) => (typeof part === "string" ? part : (part.written ?? ""))).join("");
}
