import { Regexes } from "../../src/app/regexes.ts";
import { PawlError } from "../../src/core/errors/pawl-error.ts";
import { checkGraph } from "../../src/core/graph/check-graph.ts";
import type { Graph } from "../../src/core/graph/graph.ts";
import { liftControls } from "../../src/core/graph/lift-controls.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { loadDefinition } from "../../src/dialects/load-definition.ts";
import { withMaxStates } from "../../src/dialects/terminal/lower.ts";
import { readWorkflowLimits } from "../../src/operations/start/workflow-limits.ts";
import { fail, type Play, succeed, World, type WorldOptions } from "../faults/world.ts";

type Definition = JsonObject;

/** What a state's tool returns, visit by visit; the last one for ever. A time-out is what the host says about it. */
type Results = { readonly [state: string]: Json | readonly Json[] | "timeout" | "lost" };

export async function compile(definition: Json, options = {}): Promise<Graph> {
  const { graph, problems } = await loadDefinition({ text: JSON.stringify(definition) }, options);
  if (graph === undefined) throw new Error(problems.map(({ message }) => message).join("\n"));
  const inconsistent = checkGraph(graph);
  if (inconsistent.length > 0) throw new Error(inconsistent.map(({ message }) => message).join("\n"));
  return liftControls(graph);
}

/** A state whose tool needs no parameters. */
export function state(transitions: readonly Json[] = [], more: JsonObject = {}): JsonObject {
  return { action: { tool: "list_terminal_sessions", params: {} }, transitions, ...more };
}

export function using(
  tool: string,
  params: JsonObject,
  transitions: readonly Json[] = [],
  more: JsonObject = {},
): JsonObject {
  return { action: { tool, params }, transitions, ...more };
}

export function when(condition: JsonObject, to: string): JsonObject {
  return { condition, next_state: to };
}

export function workflow(states: JsonObject, more: JsonObject = {}): Definition {
  return { name: "test", initial_state: Object.keys(states)[0] ?? "", states, ...more };
}

/** A host whose terminal returns what a test says, and which finds the workflows that a test names. */
export async function terminalWorld(
  results: Results = {},
  callable: { readonly [name: string]: Definition } = {},
  more: WorldOptions = {},
): Promise<World> {
  const regexes = new Regexes();
  const visits = new Map<string, number>();
  const play: Play = (task) => {
    const script = results[task.stepId] ?? { success: true };
    const visit = visits.get(task.path.replace(/#\d+$/, "")) ?? 0;
    visits.set(task.path.replace(/#\d+$/, ""), visit + 1);
    const result = Array.isArray(script) ? (script[Math.min(visit, script.length - 1)] as Json) : (script as Json);
    if (result === "timeout") return fail("TIMEOUT", { message: "It took too long.", retryable: true });
    if (result === "lost") return fail("SESSION_LOST", { message: "The session is gone.", effect: "none" });
    return succeed(result);
  };
  const graphs = new Map<string, Graph>();
  for (const [name, definition] of Object.entries(callable)) graphs.set(name, await compile(definition));
  const plays = new Proxy({}, { get: () => play });
  return new World({
    plays,
    ...more,
    host: {
      matches: (...asked) => regexes.matches(...asked),
      resolveCall: async ({ workflow: called, input, terms }) => {
        const graph = typeof called === "string" ? graphs.get(called) : await compile(called);
        if (graph === undefined)
          throw new PawlError("WORKFLOW_NOT_FOUND", { message: `No workflow "${String(called)}".` });
        const { maxStates, executionTimeoutSeconds } = readWorkflowLimits(terms);
        const definition = { text: "", graph: withMaxStates(graph, maxStates) };
        return { definition, input: input as JsonObject, timeoutMs: executionTimeoutSeconds * 1_000 };
      },
      ...more.host,
    },
  });
}

interface Ran {
  readonly world: World;
  readonly status: string;
  readonly error: { readonly code: string; readonly message: string } | undefined;
  /** Paths of what was done, in order. */
  readonly paths: readonly string[];
  /** What the tool of a path was given. */
  paramsOf(path: string): Json | undefined;
}

export async function run(definition: Definition, results: Results = {}, more: RunMore = {}): Promise<Ran> {
  const world = await terminalWorld(results, more.callable, more.world);
  const graph = withMaxStates(await compile(definition, more.options), more.maxStates ?? 100);
  const record = await world.run(graph, more.variables ?? {});
  return {
    world,
    status: record.status,
    error: record.error,
    paths: world.calls.map(({ path }) => path),
    paramsOf: (path) => (world.calls.find((call) => call.path === path)?.input as JsonObject | undefined)?.["params"],
  };
}

interface RunMore {
  readonly variables?: JsonObject;
  readonly callable?: { readonly [name: string]: Definition };
  readonly maxStates?: number;
  readonly options?: { readonly envAllowed?: readonly string[] };
  readonly world?: WorldOptions;
}
