import type { CallResolved } from "../../history/events.ts";
import type { Frame, Instance } from "../../history/run-state.ts";
import { failInstance } from "../attempt/conclude.ts";
import { beginBinding, type Turn } from "../turn.ts";
import { openBody } from "./flow.ts";

const DEFAULT_MAX_DEPTH = 10;

export function beginCall(turn: Turn, instance: Instance): void {
  const maxDepth = turn.state.graph.graph.limits.maxDepth ?? DEFAULT_MAX_DEPTH;
  if (instance.scope.frame.depth < maxDepth) return beginBinding(turn, instance, "resolveCall");
  instance.attempt += 1;
  const limit = `"${instance.path}" would be the call at depth ${maxDepth + 1}; ${maxDepth} are allowed.`;
  const message = `${limit} The calls are: ${namesAround(instance).join(" > ")}.`;
  failInstance(turn, instance, { code: "MAX_DEPTH", message, seq: 0 }, { mayRetry: false });
}

export function applyCallResolved(turn: Turn, event: CallResolved): void {
  const instance = turn.state.active.get(event.path);
  if (instance?.phase !== "binding") return;
  const graph = turn.state.graphs.get(event.graph);
  if (graph === undefined) throw new Error(`The graph ${event.graph} of "${event.path}" is not loaded.`);
  const depth = instance.scope.frame.depth + 1;
  noteDepth(instance, depth);
  openBody(turn, instance, {
    flow: graph.root,
    frame: {
      graph,
      inputHandle: turn.seq,
      inputNames: new Set(event.inputNames),
      known: event.projected,
      depth,
      deepest: depth,
      timeoutMs: event.timeoutMs,
    },
    timeoutMs: event.timeoutMs,
  });
}

/** The workflows around an instance, outermost first: where they go in a circle, their names show it. */
function namesAround(instance: Instance): readonly string[] {
  const names: string[] = [];
  let frame: Frame | undefined;
  for (let around: Instance | undefined = instance; around !== undefined; around = around.scope.parent) {
    if (around.scope.frame !== frame) names.unshift(around.scope.frame.graph.graph.name);
    frame = around.scope.frame;
  }
  return names;
}

function noteDepth(instance: Instance, depth: number): void {
  for (let around: Instance | undefined = instance; around !== undefined; around = around.scope.parent) {
    const { frame } = around.scope;
    if (frame.deepest < depth) frame.deepest = depth;
  }
}
