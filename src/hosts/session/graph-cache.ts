import { BoundedMap } from "../../core/bounded-map.ts";
import type { Graph } from "../../core/graph/graph.ts";
import { type IndexedGraph, indexGraph } from "../../core/graph/indexed-graph.ts";
import type { CompiledDefinition } from "../compiled-definition.ts";
import { type Pinned, pinDefinition } from "./pin-definition.ts";

/** A server may be sent another definition with every request. */
const MAX_GRAPHS = 500;

/**
 * Graphs that this process has at hand: each is hashed and indexed once, however many runs it has. The newest are kept; runs
 * hold their own, and what is missing is read from the journal.
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
