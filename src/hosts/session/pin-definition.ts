import { hash } from "node:crypto";
import type { CompiledDefinition } from "../compiled-definition.ts";

/** What a run keeps of a definition: the text as written and the graph as compiled, each under its SHA-256. */
export interface Pinned {
  readonly definitionHash: string;
  readonly graphHash: string;
  readonly pins: readonly { readonly hash: string; readonly text: string }[];
}

export function pinDefinition({ text, graph }: CompiledDefinition): Pinned {
  const graphText = JSON.stringify(graph);
  const definitionHash = hash("sha256", text);
  const graphHash = hash("sha256", graphText);
  return {
    definitionHash,
    graphHash,
    pins: [
      { hash: definitionHash, text },
      { hash: graphHash, text: graphText },
    ],
  };
}
