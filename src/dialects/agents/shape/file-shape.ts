import type { JsonObject } from "../../../core/json.ts";
import { toOtherKeys } from "../../shape/object.ts";
import type { SchemaWriter, Shape } from "../../shape/shape.ts";
import { COLLECTIONS, type ComponentKind, HEAD, MIXED, TYPES, withName } from "../component.ts";
import { type AgentsFile, NAME_RULES, parseAgentsFile } from "../parse.ts";
import { agent, model } from "./agent-shape.ts";
import { server } from "./server-shape.ts";
import { custom, graph, linear } from "./workflow-shape.ts";

const SERVER = server(1_000);
const PLAIN_SERVER = server(1);

/** A whole file: components in lists or maps by kind, in one list of all kinds, or one alone. */
export const agentsFile: Shape<AgentsFile> = {
  expected: "a map or a list",
  kinds: ["map", "list"],
  parts: [agent, SERVER, PLAIN_SERVER, model, linear, graph, custom],
  read: (node, _spot, reader) => parseAgentsFile(node, reader),
  toSchema(writer) {
    const any = entry(undefined, { where: "list" }, writer);
    const ofAnyKind = collection((where) => entry(undefined, { where }, writer));
    const keys = [...COLLECTIONS.keys(), MIXED];
    const isAlone = {
      required: ["type"],
      properties: { type: { enum: [...TYPES.keys()] } },
      not: { anyOf: keys.filter((key) => key !== "mcp_servers").map((key) => ({ required: [key] })) },
    };
    const collections = [...COLLECTIONS].map(([key, kind]) => {
      const isPlain = key === "mcpServers";
      return [key, collection((where) => entry(kind, { where, isPlain: isPlain && where === "map" }, writer))];
    });
    const file: JsonObject = {
      type: "object",
      properties: {
        ...Object.fromEntries(HEAD.map((key) => [key, {}])),
        ...Object.fromEntries(collections),
        [MIXED]: ofAnyKind,
      },
      ...toOtherKeys(keys, HEAD, writer),
    };
    return choose({ type: "array" }, { type: "array", items: any }, choose({ type: "object", ...isAlone }, any, file));
  },
};

function choose(condition: JsonObject, yes: JsonObject, no: JsonObject | boolean): JsonObject {
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  return { if: condition, then: yes, else: no };
}

type Where = "list" | "map";

/** Nothing, a list of components, or a map of them by name. */
function collection(toEntry: (where: Where) => JsonObject): JsonObject {
  const byName = {
    type: "object",
    patternProperties: { "^\\s*$": toEntry("list") },
    additionalProperties: toEntry("map"),
  };
  return { anyOf: [{ type: "array", items: toEntry("list") }, byName, { type: "null" }] };
}

/** A component: what it says itself in `type` goes before where it stands. */
function entry(
  expected: ComponentKind | undefined,
  { where, isPlain = false }: { readonly where: Where; readonly isPlain?: boolean },
  writer: SchemaWriter,
): JsonObject {
  const name = ["component", expected ?? "any", where, ...(isPlain ? ["plain"] : [])].join("-");
  return writer.define(name, () => {
    const kinds = [...new Set(TYPES.values())];
    const schemaOf = (kind: ComponentKind) =>
      writer.define([kind, "in", where, ...(isPlain ? ["plain"] : [])].join("-"), () =>
        withName(toKindSchema(kind, isPlain, writer), NAME_RULES[kind], where),
      );
    const said = kinds.map((kind) => {
      const words = [...TYPES].flatMap(([word, each]) => (each === kind ? [word] : []));
      return [{ required: ["type"], properties: { type: { enum: words } } }, schemaOf(kind)] as const;
    });
    const unsaid = expected === undefined ? false : withoutType(expected, schemaOf(expected));
    const chain = said.reduceRight<JsonObject | boolean>(
      (rest, [condition, schema]) => choose(condition, schema, rest),
      unsaid,
    );
    return { type: "object", allOf: [chain] };
  });
}

/** The `type` of a server may be its transport; in other components a word that is no kind is a mistake. */
function withoutType(kind: ComponentKind, schema: JsonObject): JsonObject {
  if (kind === "server") return schema;
  return { allOf: [schema, { properties: { type: { not: { type: ["string", "number", "boolean"] } } } }] };
}

function toKindSchema(kind: ComponentKind, isPlain: boolean, writer: SchemaWriter): JsonObject {
  switch (kind) {
    case "agent":
      return agent.toSchema(writer);
    case "model":
      return model.toSchema(writer);
    case "custom":
      return custom.toSchema(writer);
    case "server": {
      const schema = (isPlain ? PLAIN_SERVER : SERVER).toSchema(writer);
      return { allOf: [schema, { anyOf: ["server_path", "command", "url", "http_endpoint"].map(reachedBy) }] };
    }
    case "workflow": {
      const isGraph = { properties: { type: { const: "graph_workflow" } }, required: ["type"] };
      const isUntypedGraph = { ...writer.has("nodes"), not: writer.has("steps") };
      const needs = (key: string, shape: Shape<unknown>) => ({ allOf: [shape.toSchema(writer), { required: [key] }] });
      return choose({ anyOf: [isGraph, isUntypedGraph] }, needs("nodes", graph), needs("steps", linear));
    }
  }
}

function reachedBy(key: string): JsonObject {
  const filled = { type: ["string", "number"], pattern: "\\S" };
  const others: JsonObject = key === "http_endpoint" ? { url: { type: "null" } } : {};
  return { required: [key], properties: { [key]: filled, ...others } };
}
