import { suggest } from "../did-you-mean.ts";
import type { ProblemList } from "../problem-list.ts";
import { toExcerpt } from "../source/printable.ts";
import { describeNode, isNull, type YamlList, type YamlMap, type YamlNode } from "../source/yaml-node.ts";
import type {
  CustomWorkflow,
  EdgeDefinition,
  LinearWorkflow,
  Named,
  NodeDefinition,
  StepDefinition,
  WorkflowDefinition,
} from "./agents-file.ts";
import type { Component } from "./component.ts";
import { readName } from "./component-name.ts";
import { LooseReader } from "./loose-reader.ts";
import { type ParseContext, toPlace } from "./parse-context.ts";

/** A sequence (`steps`), or a graph (`nodes` and `edges`). Undefined: it has no name. */
export function parseWorkflow(component: Component, context: ParseContext): WorkflowDefinition | undefined {
  const { map } = component;
  const named = readName(component, { what: "Workflow", keys: ["name"] }, context);
  const reader = new LooseReader(map, `workflow '${toExcerpt(named?.name ?? "")}'`, context);
  const { keys } = reader;
  keys.ignore("name");
  const description = reader.text("description")?.value;
  const maxCostUsd = reader.number("max_cost_usd", { min: 0.000001, max: 1_000_000 })?.value;
  const timeout = reader.number("timeout", { min: 0.001, max: 31_536_000 })?.value;
  const isGraph = reader.text("type")?.value === "graph_workflow" || (keys.has("nodes") && !keys.has("steps"));
  const body = isGraph ? parseGraph(reader, context) : { kind: "linear" as const, steps: parseSteps(reader, context) };
  keys.reportUnknownKeys("a workflow");
  if (named === undefined) return undefined;
  return {
    ...named,
    description,
    place: reader.place(named.at),
    ...(maxCostUsd === undefined ? {} : { maxCostMicro: Math.round(Number(maxCostUsd) * 1_000_000) }),
    ...(timeout === undefined ? {} : { timeoutMs: Math.max(1, Math.round(Number(timeout) * 1_000)) }),
    ...body,
  };
}

/** What is a Python class in the original: only named, so that a step that names it can be told why it does not run. */
export function parseCustomWorkflow(component: Component, context: ParseContext): CustomWorkflow | undefined {
  const named = readName(component, { what: "Workflow", keys: ["name"] }, context);
  const reader = new LooseReader(component.map, "custom workflow", context);
  const parts = [reader.text("module_path")?.value, reader.text("class_name")?.value];
  if (named === undefined) return undefined;
  return { ...named, python: parts.filter((part) => part !== undefined && part !== "").join(":") };
}

function parseSteps(reader: LooseReader, context: ParseContext): LinearWorkflow["steps"] {
  const { keys } = reader;
  if (!keys.has("steps") && !keys.map.entries.has("steps")) {
    const message = "The workflow has no `steps`.";
    const remedy = "Add `steps`: a list of the names of agents and workflows.";
    context.problems.error({ code: "KEY_MISSING", at: keys.at("steps"), message, remedy });
  }
  return (readList(reader, "steps")?.items ?? []).flatMap((node) => parseStep(node, "steps", context) ?? []);
}

function readList(reader: LooseReader, key: string): YamlList | undefined {
  return reader.keys.list(key);
}

function parseStep(node: YamlNode, key: string, context: ParseContext): StepDefinition | undefined {
  const { problems, source } = context;
  const name = readText(node);
  if (name !== undefined && name.trim() !== "") return { name, at: node, type: "any", place: toPlace(node, source) };
  if (node.kind === "map") return parseNamedStep(node, key, context);
  const what = name === undefined ? describeNode(node) : "an empty one";
  const message = `An entry of \`${key}\` must be a name, not ${what}.`;
  const remedy = "Write the name of an agent or of a workflow, or `{name, type}`.";
  problems.error({ code: "WRONG_TYPE", at: node, message, remedy });
  return undefined;
}

function parseNamedStep(map: YamlMap, key: string, context: ParseContext): StepDefinition | undefined {
  const named = readName({ kind: "workflow", map }, { what: "Step", keys: ["name"] }, context);
  const type = readStepType(map, context.problems);
  const known = key === "nodes" ? ["name", "type", "description", "node_id", "id"] : ["name", "type", "description"];
  for (const [each, entry] of map.entries) {
    if (known.includes(each) || each.startsWith("x-")) continue;
    const message = `\`${toExcerpt(each)}\` means nothing in an entry of \`${key}\` and is ignored.`;
    context.problems.warning({ code: "UNKNOWN_KEY", at: entry.key, message, remedy: suggest(each, known) });
  }
  return named === undefined ? undefined : { ...named, type, place: toPlace(map, context.source) };
}

const STEP_TYPES: ReadonlyMap<string, StepDefinition["type"]> = new Map([
  ["agent", "agent"],
  ["workflow", "workflow"],
  ["linear_workflow", "workflow"],
  ["simple_workflow", "workflow"],
  ["graph_workflow", "workflow"],
  ["custom_workflow", "workflow"],
]);

function readStepType({ entries }: YamlMap, problems: ProblemList): StepDefinition["type"] {
  const node = entries.get("type")?.value;
  if (node === undefined || isNull(node)) return "any";
  const written = readText(node) ?? "";
  const type = STEP_TYPES.get(written);
  if (type !== undefined) return type;
  const names = [...STEP_TYPES.keys()];
  const message = `\`type\` cannot be \`${toExcerpt(written)}\`; it is one of ${names.join(", ")}.`;
  problems.error({ code: "VALUE_INVALID", at: node, message, remedy: suggest(written, names) });
  return "any";
}

function parseGraph(reader: LooseReader, context: ParseContext) {
  const nodes = (readList(reader, "nodes")?.items ?? []).flatMap((node) => parseNode(node, context) ?? []);
  if (!reader.keys.map.entries.has("nodes")) {
    const message = "The workflow has no `nodes`.";
    const remedy = "Add `nodes`: a list of `{node_id, name, type}`.";
    context.problems.error({ code: "KEY_MISSING", at: reader.keys.at("nodes"), message, remedy });
  }
  const edges = (readList(reader, "edges")?.items ?? []).flatMap((edge) => parseEdge(edge, context) ?? []);
  return { kind: "graph" as const, nodes, edges };
}

/** A name alone is a node of that id. */
function parseNode(node: YamlNode, context: ParseContext): NodeDefinition | undefined {
  const step = parseStep(node, "nodes", context);
  if (step === undefined) return undefined;
  const id = node.kind === "map" ? (textAt(node, "node_id") ?? textAt(node, "id")) : undefined;
  return { ...step, at: id?.at ?? step.at, id: id?.name ?? step.name };
}

/** `{from, to}`, or a pair. */
function parseEdge(edge: YamlNode, { problems }: ParseContext): EdgeDefinition | undefined {
  const ends = edge.kind === "list" ? edge.items.map(toNamed) : [];
  const from = edge.kind === "map" ? (textAt(edge, "from") ?? textAt(edge, "source")) : ends[0];
  const to = edge.kind === "map" ? (textAt(edge, "to") ?? textAt(edge, "target")) : ends[1];
  if (from !== undefined && to !== undefined && ends.length <= 2) return { from, to };
  const message = "An entry of `edges` says from which node to which.";
  problems.error({ code: "WRONG_TYPE", at: edge, message, remedy: "Write `{from, to}`, the ids of two nodes." });
  return undefined;
}

function textAt({ entries }: YamlMap, key: string): Named | undefined {
  const node = entries.get(key)?.value;
  return node === undefined ? undefined : toNamed(node);
}

function toNamed(node: YamlNode): Named | undefined {
  const name = readText(node);
  return name === undefined || name === "" ? undefined : { name, at: node };
}

function readText(node: YamlNode): string | undefined {
  if (node.kind !== "scalar" || node.value === null || typeof node.value === "boolean") return undefined;
  return typeof node.value === "string" ? node.value : node.written;
}
