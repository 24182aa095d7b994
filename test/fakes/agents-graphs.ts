import type { Graph } from "../../src/core/graph/graph.ts";
import { loadDefinition } from "../../src/dialects/load-definition.ts";

interface AgentsGraphs {
  /** Names of their steps, by name. What is neither one of these nor among `others` is an agent. */
  readonly workflows: Readonly<Record<string, readonly string[]>>;
  /** Workflows of other files. */
  readonly others?: readonly string[];
}

/** The graphs of the workflows of one agents file. */
export async function agentsGraphs({ workflows, others = [] }: AgentsGraphs): Promise<readonly Graph[]> {
  const names = new Set(Object.values(workflows).flat());
  const isAgent = (name: string) => !(name in workflows) && !others.includes(name);
  const text = JSON.stringify({
    agents: [...names].filter(isAgent).map((name) => ({ name, client_ids: [] })),
    workflows: Object.entries(workflows).map(([name, steps]) => ({ name, steps })),
  });
  const toGraph = async (workflow: string): Promise<Graph> => {
    const hasWorkflow = async (name: string) => others.includes(name);
    const { graph, problems } = await loadDefinition({ text }, { select: { workflow }, hasWorkflow });
    if (graph === undefined) throw new Error(problems.map(({ message }) => message).join("\n"));
    return graph;
  };
  return Promise.all(Object.keys(workflows).map(toGraph));
}
