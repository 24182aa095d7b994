import type { JsonObject } from "../../../core/json.ts";
import { anything, list } from "../../shape/containers.ts";
import { ignored, optional } from "../../shape/fields.ts";
import { object } from "../../shape/object.ts";
import { choice, flag, text } from "../../shape/scalars.ts";
import { type Shape, to } from "../../shape/shape.ts";
import { describeNode, type YamlMap, type YamlNode } from "../../source/yaml-node.ts";
import type { EdgeDefinition, Named, NodeDefinition, StepDefinition } from "../agents-file.ts";
import { readName, withName } from "../component.ts";
import { cost, plain, seconds } from "./parts.ts";

const STEP_TYPES = [
  "agent",
  "workflow",
  "linear_workflow",
  "simple_workflow",
  "graph_workflow",
  "custom_workflow",
] as const;

const NAME = { type: ["string", "number"], pattern: "\\S" };
const STEP_NAME = { what: "Step", keys: ["name"] } as const;

function readText(node: YamlNode | undefined): string | undefined {
  if (node?.kind !== "scalar" || node.value === null || typeof node.value === "boolean") return undefined;
  return typeof node.value === "string" ? node.value : node.written;
}

const stepKeys = {
  name: ignored("read with the entry."),
  type: optional(choice(STEP_TYPES), "Whether an agent or a workflow of this name is meant."),
  description: ignored("for people."),
};

const STEP = object(stepKeys, { title: "an entry of `steps`" });
const NODE = object(
  {
    ...stepKeys,
    node_id: optional(anything("a text"), "The node's id, which edges name.", { otherwise: "the name" }),
    id: ignored("the same as `node_id`."),
  },
  { title: "an entry of `nodes`" },
);

/** The name of an agent or of a workflow, or a map with it. */
function step(key: "steps" | "nodes"): Shape<StepDefinition & { readonly map?: YamlMap }> {
  const shape: Shape<{ readonly type: (typeof STEP_TYPES)[number] | undefined; readonly at: YamlMap }> =
    key === "steps" ? STEP : NODE;
  return {
    expected: "a name",
    kinds: ["text", "number", "map"],
    parts: [shape],
    read(node, spot, reader) {
      const name = readText(node);
      if (name !== undefined && name.trim() !== "")
        return { name, at: node, type: "any", place: reader.source.position(node) };
      if (node.kind === "map") {
        const named = readName({ map: node }, STEP_NAME, reader);
        const read = shape.read(node, spot, reader);
        if (named === undefined || read === undefined) return undefined;
        const type = read.type === undefined ? "any" : read.type === "agent" ? "agent" : "workflow";
        return { ...named, type, place: reader.source.position(node), map: node };
      }
      const what = name === undefined ? describeNode(node) : "an empty one";
      const message = `An entry of \`${key}\` must be a name, not ${what}.`;
      const remedy = "Write the name of an agent or of a workflow, or `{name, type}`.";
      return reader.refuse({ code: "WRONG_TYPE", at: node, message, remedy });
    },
    toSchema: (writer) => ({ anyOf: [NAME, withName(shape.toSchema(writer), STEP_NAME, "list")] }),
  };
}

const node: Shape<NodeDefinition> = to(step("nodes"), ({ map, ...read }) => {
  const id = toNamed(map?.entries.get("node_id")?.value) ?? toNamed(map?.entries.get("id")?.value);
  return { ...read, at: id?.at ?? read.at, id: id?.name ?? read.name };
});

function toNamed(at: YamlNode | undefined): Named | undefined {
  const name = readText(at);
  return at === undefined || name === undefined || name === "" ? undefined : { name, at };
}

/** `{from, to}`, or a pair. */
const edge: Shape<EdgeDefinition> = {
  expected: "a map with `from` and `to`",
  kinds: ["map", "list"],
  read(written, _spot, reader) {
    const ends = written.kind === "list" ? written.items.map(toNamed) : [];
    const at = (key: string) => (written.kind === "map" ? toNamed(written.entries.get(key)?.value) : undefined);
    const from = at("from") ?? at("source") ?? ends[0];
    const target = at("to") ?? at("target") ?? ends[1];
    if (from !== undefined && target !== undefined && ends.length <= 2) return { from, to: target };
    const message = "An entry of `edges` says from which node to which.";
    return reader.refuse({
      code: "WRONG_TYPE",
      at: written,
      message,
      remedy: "Write `{from, to}`, the ids of two nodes.",
    });
  },
  toSchema: () => {
    const end = { type: ["string", "number"], minLength: 1 };
    const oneOf = (...keys: readonly string[]): JsonObject => ({
      anyOf: keys.map((key) => ({ required: [key], properties: { [key]: end } })),
    });
    const pair = { type: "array", items: end, minItems: 2, maxItems: 2 };
    return { anyOf: [pair, { type: "object", allOf: [oneOf("from", "source"), oneOf("to", "target")] }] };
  },
};

const common = {
  name: ignored("read with the component."),
  description: optional(text(), "For people."),
  type: optional(text(), "What the component is: `workflow`, `linear_workflow`, `graph_workflow`."),
  include_history: optional(flag(), "Instead of what its agents say of `include_history`, for all of them."),
  max_cost_usd: optional(cost, "What a run may cost, in US dollars."),
  timeout: optional(seconds, "Seconds that a run may take."),
};

/** One step after the other. */
export const linear = object(
  {
    ...common,
    steps: optional(plain(list(step("steps"))), "Names of agents and workflows, or `{name, type}`, in their order."),
    nodes: ignored("it belongs to graphs."),
  },
  { title: "a workflow" },
);

/** Steps with edges between them. */
export const graph = object(
  {
    ...common,
    nodes: optional(plain(list(node)), "The steps: names, or `{node_id, name, type}`."),
    edges: optional(plain(list(edge)), "From which node to which: `{from, to}`, or a pair."),
  },
  { title: "a graph workflow" },
);

/** A Python class of the original, only named, so that a step that names it can be told why it does not run. */
export const custom = object(
  {
    name: ignored("read with the component."),
    module_path: optional(text(), "The module of the class, which Pawl does not run."),
    class_name: optional(text(), "The class."),
  },
  { title: "a custom workflow", open: true },
);
