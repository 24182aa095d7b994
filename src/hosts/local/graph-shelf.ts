import type { Graph } from "../../core/graph/graph.ts";
import { type IndexedGraph, indexGraph } from "../../core/graph/indexed-graph.ts";
import type { CompiledDefinition } from "../compiled-definition.ts";
import { type Pinned, pinDefinition } from "./pin-definition.ts";

/** Graphs that this process has at hand: each is hashed and indexed once, however many runs it has. */
export class GraphShelf {
  readonly byHash = new Map<string, IndexedGraph>();
  readonly #pinned = new WeakMap<Graph, Pinned>();

  put(definition: CompiledDefinition): { readonly pinned: Pinned; readonly graph: IndexedGraph } {
    const pinned = this.#pinned.get(definition.graph) ?? pinDefinition(definition);
    this.#pinned.set(definition.graph, pinned);
    const graph = this.byHash.get(pinned.graphHash) ?? indexGraph(definition.graph, pinned.graphHash);
    this.byHash.set(pinned.graphHash, graph);
    return { pinned, graph };
  }
}
