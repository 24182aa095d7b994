import type { Expr } from "../expressions/expr.ts";
import { walkPaths } from "../expressions/walk-paths.ts";
import { isJsonObject, type JsonObject } from "../json.ts";
import { inferAnswerSchemas } from "./answer-schemas.ts";
import { traitsOf } from "./dialects.ts";
import type { Flow, Graph, Step, Transition } from "./graph.ts";
import { type Shape, SINGLE } from "./shape.ts";
import { escapeId } from "./step-path.ts";
import { orderSteps, stepsWithin } from "./steps-within.ts";

/** A graph with what the interpreter looks up again and again. Derived, never stored. */
export interface IndexedGraph {
  readonly hash: string;
  readonly graph: Graph;
  readonly root: IndexedFlow;
  /** What a made-up output of the step should look like, as a JSON Schema. Computed at the first call. */
  answerSchemaOf(step: Step): JsonObject | undefined;
}

export interface IndexedFlow {
  readonly flow: Flow;
  readonly steps: readonly IndexedStep[];
  readonly indexOf: ReadonlyMap<string, number>;
  /** Every step after all that it depends on. Empty in a machine. */
  readonly order: readonly number[];
  /** The shape depends on the run's input; else it is `plainShape`. */
  readonly hasItemFields: boolean;
  readonly plainShape: Shape;
  /** Variables whose values control reads, and state therefore keeps. */
  readonly controlVariables: ReadonlySet<string>;
}

export interface IndexedStep {
  readonly step: Step;
  readonly index: number;
  readonly escapedId: string;
  /** Unique in the graph: `batch/fetch`. */
  readonly key: string;
  readonly after: readonly number[];
  readonly dependents: readonly number[];
  readonly needsProjection: boolean;
  /** Some expression names its output: worth keeping at hand. */
  readonly isRead: boolean;
  readonly body: IndexedFlow | undefined;
  readonly catch: IndexedFlow | undefined;
  readonly finally: IndexedFlow | undefined;
}

const NO_ORDER: ReturnType<typeof orderSteps> = { after: [], dependents: [], order: [] };

/** The graph must have passed `checkGraph`. */
export function indexGraph(graph: Graph, hash: string): IndexedGraph {
  const read = new Set<string>();
  eachPath(graph.flow, ({ root, name }) => {
    if (root === "steps" && typeof name === "string") read.add(name);
  });
  let schemas: ReadonlyMap<Step, JsonObject> | undefined;
  const answerSchemaOf = (step: Step) => {
    schemas ??= inferAnswerSchemas(graph);
    return schemas.get(step);
  };
  return { hash, graph, root: indexFlow(graph.flow, "", read), answerSchemaOf };
}

/**
 * Fields of the input that some expression names, as who starts a run gives them: of a request those of its payload. A name that the
 * workflow itself fills as it goes is none, nor is one that its items have.
 */
export function collectInputFields(graph: Graph): ReadonlySet<string> {
  const names = new Set<string>();
  const filled = new Set<unknown>();
  const before = traitsOf(graph).input === "request" ? REQUEST_PAYLOAD : [];
  eachPath(graph, ({ root, path, name }) => {
    if (root === "vars") filled.add(name);
    if (root === "item" && Array.isArray(path)) filled.add(path[0]);
    if (root !== "input" || !Array.isArray(path) || before.some((field, index) => path[index] !== field)) return;
    const field: unknown = path[before.length];
    if (typeof field === "string") names.add(field);
  });
  return new Set([...names].filter((name) => !filled.has(name)));
}

const REQUEST_PAYLOAD = ["requestData", "payload"];

/** Calls `visit` with every path, in whatever expression it stands. */
function eachPath(part: unknown, visit: (path: JsonObject) => void): void {
  if (typeof part !== "object" || part === null) return;
  if (isJsonObject(part) && typeof part["root"] === "string") visit(part);
  for (const inner of Object.values(part)) eachPath(inner, visit);
}

function indexFlow(flow: Flow, prefix: string, read: ReadonlySet<string>): IndexedFlow {
  const indexOf = new Map(flow.steps.map((step, index) => [step.id, index]));
  const { after, dependents, order } = flow.kind === "dag" ? orderSteps(flow.steps) : NO_ORDER;
  const steps = flow.steps.map((step, index): IndexedStep => {
    const escapedId = escapeId(step.id);
    const key = `${prefix}${escapedId}`;
    return {
      step,
      index,
      escapedId,
      key,
      after: after[index] ?? [],
      dependents: dependents[index] ?? [],
      needsProjection: step.project !== undefined || step.assign !== undefined,
      isRead: read.has(step.id),
      body: step.kind === "flow" ? indexFlow(step.flow, `${key}/`, read) : undefined,
      catch: step.catch === undefined ? undefined : indexFlow(step.catch, `${key}~catch/`, read),
      finally: step.finally === undefined ? undefined : indexFlow(step.finally, `${key}~finally/`, read),
    };
  });
  return {
    flow,
    steps,
    indexOf,
    order,
    hasItemFields: flow.steps.some(
      (step) => step.follows !== undefined || step.itemFields !== undefined || step.usesItem === true,
    ),
    plainShape: flow.steps.map((step, index) => (step.each === undefined ? SINGLE : index)),
    controlVariables: controlVariablesOf(flow),
  };
}

function controlVariablesOf(flow: Flow): ReadonlySet<string> {
  const names = new Set<string>(flow.kind === "machine" ? flow.reported : undefined);
  const collect = (expr: Expr | undefined) => {
    if (expr === undefined) return;
    walkPaths(expr, (path) => {
      if (path.root === "vars" && path.name !== undefined) names.add(path.name);
    });
  };
  for (const step of stepsWithin(flow)) {
    collect(step.when);
    collect(step.each?.count);
    for (const transition of step.transitions ?? ([] as Transition[])) collect(transition.when);
  }
  return names;
}
