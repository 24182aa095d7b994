import type { OpenApplication } from "../../../operations/application/application.ts";
import { explainGraph } from "../../../operations/definitions/explain-graph.ts";
import { findDefinition } from "../../../operations/definitions/find-definition.ts";
import { loadOptionsOf } from "../../../operations/definitions/load-options.ts";
import { type CommonOptions, formatOf, paintFor } from "../cli-context.ts";
import { print, printEnvelope } from "../print.ts";
import { io } from "../process-io.ts";

export interface GraphOptions extends CommonOptions {
  readonly mermaid?: true;
}

/** `pawl graph`: what a workflow does, in which order, and what runs per item. */
export async function graph(app: OpenApplication, workflow: string, options: GraphOptions): Promise<number> {
  const { definition } = await findDefinition(workflow, {
    folders: [process.cwd()],
    appDir: app.appDir,
    ...loadOptionsOf(app.config),
  });
  const explanation = explainGraph(definition.graph);
  if (options.mermaid === true) {
    const { toMermaid } = await import("../../../operations/definitions/explain-graph-mermaid.ts");
    print(toMermaid(explanation));
  } else if (formatOf(options) === "text") {
    const { renderGraph } = await import("../render/render-graph.ts");
    print(renderGraph(explanation, paintFor(io().stdout)));
  } else {
    printEnvelope(explanation);
  }
  return 0;
}
