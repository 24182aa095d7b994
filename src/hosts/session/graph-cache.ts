import { hash } from "node:crypto";
import { BoundedMap } from "../../core/bounded-map.ts";
import { writeExact } from "../../core/exact-json.ts";
import type { Graph } from "../../core/graph/graph.ts";
import { type IndexedGraph, indexGraph } from "../../core/graph/indexed-graph.ts";
import { PROGRAMS_PIN } from "../../ports/step-functions.ts";
import type { CompiledDefinition } from "../compiled-definition.ts";

/** A server may get another definition with every request. */
const MAX_GRAPHS = 500;

/**
 * Graphs of this process: each is hashed and indexed once, however many runs it has. The newest are kept. Runs hold their
 * own, and a missing one is read from the journal.
 */
export class GraphCache {
  readonly byHash: Map<string, IndexedGraph> = new BoundedMap(MAX_GRAPHS);
  readonly #pinned = new WeakMap<Graph, Pinned>();

  put(definition: CompiledDefinition): { readonly pinned: Pinned; readonly graph: IndexedGraph } {
    const pinned = this.#pinned.get(definition.graph) ?? pinDefinition(definition);
    this.#pinned.set(definition.graph, pinned);
    const graph = this.byHash.get(pinned.graphHash) ?? indexGraph(definition.graph, pinned.graphHash);
    this.byHash.set(pinned.graphHash, graph);
    return { pinned, graph };
  }
}

/** A definition as a run keeps it: the text as written and the graph as compiled, each under its SHA-256. */
export interface Pinned {
  readonly definitionHash: string;
  readonly graphHash: string;
  readonly pins: readonly { readonly hash: string; readonly text: string }[];
}

export function pinDefinition({ text, graph }: CompiledDefinition): Pinned {
  const graphText = writeExact(graph);
  const definitionHash = hash("sha256", text);
  const graphHash = hash("sha256", graphText);
  return {
    definitionHash,
    graphHash,
    pins: [
      { hash: definitionHash, text },
      { hash: graphHash, text: graphText },
      ...(graph.programs === undefined
        ? []
        : [{ hash: `${PROGRAMS_PIN}${graphHash}`, text: writeExact(graph.programs) }]),
    ],
  };
}
