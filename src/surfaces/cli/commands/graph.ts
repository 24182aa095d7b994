import { existsSync } from "node:fs";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { Place } from "../../../operations/application/ports.ts";
import { explainGraph } from "../../../operations/definitions/explain/explain-graph.ts";
import type { GraphExplanation } from "../../../operations/definitions/explain/graph-schemas.ts";
import { findDefinition } from "../../../operations/definitions/find-definition.ts";
import { loadOptionsOf } from "../../../operations/definitions/load-options.ts";
import { looksLikeFile } from "../../../operations/definitions/looks-like-file.ts";
import { type CommonOptions, formatOf, paintFor } from "../cli-context.ts";
import { print, printEnvelope } from "../print.ts";
import { io } from "../process-io.ts";
import type { RemoteParts } from "../remote/perform-remotely.ts";

export interface GraphOptions extends CommonOptions {
  readonly mermaid?: true;
}

export async function explainHere({ appDir, config }: Place, workflow: string): Promise<GraphExplanation> {
  const places = { folders: [process.cwd()], appDir, ...loadOptionsOf(config) };
  return explainGraph((await findDefinition(workflow, places)).definition.graph);
}

/** A server knows names; a file of this machine is explained here. */
export async function explainThere({ client }: RemoteParts, workflow: string): Promise<GraphExplanation> {
  const [file = ""] = workflow.split("#");
  if (looksLikeFile(file) || existsSync(workflow)) {
    const folder = process.cwd();
    return explainGraph((await findDefinition(workflow, { folders: [folder], appDir: folder })).definition.graph);
  }
  const { graph, problems } = await client.call("GET /workflows/{name}", { name: workflow });
  if (graph !== null) return graph;
  throw new PawlError("DEFINITION_INVALID", { message: `"${workflow}" has problems.`, details: { problems } });
}

/** `pawl graph`: what a workflow does, in which order, and what runs per item. */
export async function graph(explanation: GraphExplanation, options: GraphOptions): Promise<number> {
  const { inFileWords } = await import("../../../operations/definitions/explain/in-file-words.ts");
  if (options.mermaid === true) {
    const { toMermaid } = await import("../../../operations/definitions/explain/explain-graph-mermaid.ts");
    print(toMermaid(inFileWords(explanation)));
  } else if (formatOf(options) === "text") {
    const { renderGraph } = await import("../render/pages/render-graph.ts");
    print(renderGraph(inFileWords(explanation), paintFor(io().stdout)));
  } else {
    printEnvelope(explanation);
  }
  return 0;
}
