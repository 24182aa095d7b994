import { hasAgentsShape, listComponentNames } from "./agents/component.ts";
import { isAgentFile } from "./agents/front-matter.ts";
import { parseAgentFile } from "./agents/parse-agent-file.ts";
import type { Definition } from "./definition.ts";
import { ProblemList } from "./problem-list.ts";
import type { YamlNode } from "./source/yaml-node.ts";
import { readYaml } from "./source/yaml-source.ts";
import { unwrapSaved } from "./terminal/dialect.ts";

/**
 * The names that a text gives to its workflows, without a look at whether they can run: for who only wants to know what
 * there is. Empty where it names none.
 */
export function listNames(definition: Definition): readonly string[] {
  const root = read(definition);
  if (root === undefined) return [];
  if (hasAgentsShape(root)) return listComponentNames(root, "workflow");
  const named = root.kind === "map" ? (root.entries.get("workflowId") ?? root.entries.get("name"))?.value : undefined;
  return named?.kind === "scalar" && typeof named.value === "string" ? [named.value] : [];
}

/** Likewise of the agents of a text. */
export function listAgentNames(definition: Definition): readonly string[] {
  if (isAgentFile(definition)) return [parseAgentFile(definition).name];
  const root = read(definition);
  return root === undefined ? [] : listComponentNames(root, "agent");
}

/** Whether a text holds agents, servers, models or workflows of agents. */
export function holdsComponents(definition: Definition): boolean {
  const root = read(definition);
  return root !== undefined && hasAgentsShape(root);
}

function read(definition: Definition): YamlNode | undefined {
  const written = readYaml(new ProblemList(definition));
  return written?.kind === "map" ? unwrapSaved(written) : written;
}
