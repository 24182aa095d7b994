import type { YamlNode } from "../source/yaml-node.ts";
import type { AgentsFile } from "./agents-file.ts";
import { type Component, type ComponentKind, findComponents } from "./component.ts";
import { parseAgent } from "./parse-agent.ts";
import type { ParseContext } from "./parse-context.ts";
import { parseModel } from "./parse-model.ts";
import { parseServer } from "./parse-server.ts";
import { parseCustomWorkflow, parseWorkflow } from "./parse-workflow.ts";

/** Reads a whole file, whichever shape it has. What is wrong is reported and left out, so that the rest is still checked. */
export function parseAgentsFile(root: YamlNode, context: ParseContext): AgentsFile {
  const { components, namesServers } = findComponents(root, context.problems);
  const each = <Part>(kind: ComponentKind, parse: (component: Component, context: ParseContext) => Part | undefined) =>
    components.filter((component) => component.kind === kind).flatMap((component) => parse(component, context) ?? []);
  const servers = each("server", parseServer);
  const [first] = root.kind === "map" ? root.entries.values() : [];
  return {
    at: first?.key ?? { start: root.start, end: Math.min(root.end, root.start + 1) },
    agents: each("agent", parseAgent),
    models: each("model", parseModel),
    servers: namesServers ? servers : undefined,
    workflows: each("workflow", parseWorkflow),
    customWorkflows: each("custom", parseCustomWorkflow),
  };
}
