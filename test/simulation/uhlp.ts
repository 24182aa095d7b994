import type { Graph } from "../../src/core/graph/graph.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { loadDefinition } from "../../src/dialects/load-definition.ts";
import { renderProblem } from "../../src/dialects/render-problem.ts";
import type { Behaviour, TaskResult } from "./behaviour.ts";
import { CoreHost } from "./core-host.ts";

export interface UhlpRun {
  readonly payload?: Json;
  readonly context?: JsonObject;
  /** What tasks do, by step id: for each call in turn, the last one for ever. Others say `ID:` and their input. */
  readonly tasks?: { readonly [stepId: string]: TaskResult | readonly TaskResult[] };
  readonly outside?: Partial<Behaviour>;
  readonly callable?: { readonly [name: string]: Graph };
}

/** `steps:` and what belongs beside it, as a whole workflow; it begins with its first step. Throws on any error. */
export async function compileSteps(yaml: string): Promise<Graph> {
  const start = /^steps:\n {2}(\w+):/m.exec(yaml)?.[1];
  const head = yaml.includes("startAt:") && !yaml.startsWith("steps:") ? "" : `startAt: ${start}\n`;
  const text = `workflowId: test\n${head}${yaml}`;
  const { graph, problems } = await loadDefinition({ text });
  if (graph === undefined) throw new Error(problems.map((problem) => renderProblem(problem, text)).join("\n"));
  return graph;
}

/** Compiles and runs to the end. */
export async function runSteps(yaml: string, run: UhlpRun = {}): Promise<CoreHost> {
  return hostOfGraph(await compileSteps(yaml), run).run();
}

export function hostOfGraph(graph: Graph, run: UhlpRun = {}): CoreHost {
  const { payload = {}, context = {}, tasks = {}, outside = {}, callable = {} } = run;
  const calls = new Map<string, number>();
  const behaviour: Behaviour = {
    task: ({ stepId, input }) => {
      const count = calls.get(stepId) ?? 0;
      calls.set(stepId, count + 1);
      const results = [tasks[stepId] ?? []].flat();
      return results[Math.min(count, results.length - 1)] ?? { output: { [stepId]: argumentsOf(input) } };
    },
    ...outside,
  };
  return new CoreHost({ graph, callable, behaviour, input: { requestData: { source: "internal", payload }, context } });
}

function argumentsOf(input: Json): Json {
  const { input: mapped, arguments: named } = input as { readonly input?: Json; readonly arguments?: Json };
  return mapped ?? named ?? null;
}
