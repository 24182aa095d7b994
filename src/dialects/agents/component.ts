import type { Json, JsonObject } from "../../core/json.ts";
import { suggest } from "../did-you-mean.ts";
import type { Reader } from "../shape/shape.ts";
import { capitalize, toExcerpt } from "../source/printable.ts";
import type { Range } from "../source/source-text.ts";
import { describeNode, isNull, startOf, type YamlMap, type YamlNode } from "../source/yaml-node.ts";
import type { Named } from "./agents-file.ts";

export type ComponentKind = "agent" | "server" | "model" | "workflow" | "custom";

/** One agent, server, model or workflow of a file, wherever in it that stands. */
export interface Component {
  readonly kind: ComponentKind;
  readonly map: YamlMap;
  /** The key of an entry in a map of components, which is its name unless it has one itself. */
  readonly key?: { readonly name: string; readonly at: Range };
  /** In a map `mcpServers`, as other programs write it. */
  readonly isPlainServer?: true;
}

export interface FoundComponents {
  readonly components: readonly Component[];
  /** The file has a place for servers, be it an empty one. */
  readonly namesServers: boolean;
}

/** Kinds by the word that a component's `type` has. */
export const TYPES: ReadonlyMap<string, ComponentKind> = new Map([
  ["agent", "agent"],
  ["mcp_server", "server"],
  ["mcp_servers", "server"],
  ["client", "server"],
  ["llm", "model"],
  ["workflow", "workflow"],
  ["linear_workflow", "workflow"],
  ["simple_workflow", "workflow"],
  ["graph_workflow", "workflow"],
  ["custom_workflow", "custom"],
]);

/** Kinds by the key of the list or map that they stand in. */
export const COLLECTIONS: ReadonlyMap<string, ComponentKind> = new Map([
  ["agents", "agent"],
  ["clients", "server"],
  ["mcp_servers", "server"],
  ["mcpServers", "server"],
  ["llms", "model"],
  ["workflows", "workflow"],
  ["linear_workflows", "workflow"],
  ["simple_workflows", "workflow"],
  ["graph_workflows", "workflow"],
  ["custom_workflows", "custom"],
]);

export const MIXED = "components";
/** Keys that may stand beside them and say nothing about how they run. */
export const HEAD = ["name", "description", "dialect", "$schema", "version"];

/** Whether a parsed text has one of the shapes of a file of agents. */
export function hasAgentsShape(root: YamlNode): boolean {
  if (root.kind === "list") return root.items.some(isTyped);
  if (root.kind !== "map") return false;
  return isTyped(root) || [...COLLECTIONS.keys(), MIXED].some((key) => root.entries.has(key));
}

function isTyped(node: YamlNode): boolean {
  const type = node.kind === "map" ? node.entries.get("type")?.value : undefined;
  return type?.kind === "scalar" && TYPES.has(type.written);
}

/** Finds the components of a file: in lists or maps by kind, in one list of all kinds, or one alone. `reader`: is told what is wrong. */
export function findComponents(root: YamlNode, reader: Reader | undefined): FoundComponents {
  const collector = new Collector(reader);
  if (root.kind === "list") collector.addCollection(root, "the file", undefined);
  else if (root.kind === "map" && isTyped(root) && !hasCollection(root)) collector.addEntry(root, { what: "the file" });
  else if (root.kind === "map") collector.addFile(root);
  else collector.addCollection(root, "the file", undefined);
  const { components, namesServers } = collector;
  return { components, namesServers: namesServers || components.some(({ kind }) => kind === "server") };
}

function hasCollection({ entries }: YamlMap): boolean {
  return [...COLLECTIONS.keys(), MIXED].some((key) => key !== "mcp_servers" && entries.has(key));
}

interface EntryPlace {
  readonly what: string;
  readonly kind?: ComponentKind | undefined;
  readonly key?: NonNullable<Component["key"]>;
  readonly isPlainServer?: boolean;
}

class Collector {
  readonly components: Component[] = [];
  namesServers = false;
  readonly #reader: Reader | undefined;

  constructor(reader: Reader | undefined) {
    this.#reader = reader;
  }

  addFile({ entries }: YamlMap): void {
    for (const [key, entry] of entries) {
      const kind = COLLECTIONS.get(key);
      if (kind === "server" && !isNull(entry.value)) this.namesServers = true;
      if (kind !== undefined || key === MIXED)
        this.addCollection(entry.value, `\`${key}\``, kind, key === "mcpServers");
      else if (!HEAD.includes(key) && !key.startsWith("x-")) this.#reportUnknown(key, entry.key);
    }
  }

  addCollection(node: YamlNode, what: string, kind: ComponentKind | undefined, isPlainServer = false): void {
    if (isNull(node)) return;
    if (node.kind === "list") {
      for (const item of node.items) this.addEntry(item, { what, kind });
      return;
    }
    if (node.kind === "map") {
      for (const [name, { key, value }] of node.entries)
        this.addEntry(value, { what, kind, key: { name, at: key }, isPlainServer });
      return;
    }
    const message = `${capitalize(what)} must be a list, not ${describeNode(node)}.`;
    this.#reader?.refuse({ code: "WRONG_TYPE", at: node, message, remedy: "Write a list of maps." });
  }

  addEntry(node: YamlNode, { what, kind: expected, key, isPlainServer = false }: EntryPlace): void {
    if (node.kind !== "map") {
      const message = `An entry of ${what} must be a map, not ${describeNode(node)}.`;
      this.#reader?.refuse({ code: "WRONG_TYPE", at: node, message, remedy: "Write a map of keys." });
      return;
    }
    const kind = this.#kindOf(node, what, isPlainServer ? "server" : expected);
    if (kind === undefined) return;
    const named = key === undefined ? {} : { key };
    this.components.push({ kind, map: node, ...named, ...(isPlainServer ? { isPlainServer } : {}) });
  }

  /** A component's own `type` wins over the list that it stands in. */
  #kindOf(map: YamlMap, what: string, expected: ComponentKind | undefined): ComponentKind | undefined {
    const type = map.entries.get("type")?.value;
    const written = type?.kind === "scalar" && !isNull(type) ? type.written : undefined;
    const kind = TYPES.get(written ?? "");
    // The `type` of a server may be its transport.
    if (expected === "server" && kind === undefined) return expected;
    if (kind !== undefined) return kind;
    if (written === undefined && expected !== undefined) return expected;
    const types = [...TYPES.keys()].join(", ");
    if (written === undefined) {
      const at = startOf(map);
      const message = `An entry of ${what} does not say what it is: it has no \`type\`.`;
      this.#reader?.refuse({ code: "KEY_MISSING", at, message, remedy: `Add \`type\`: one of ${types}.` });
    } else {
      const message = `\`type\` cannot be \`${toExcerpt(written)}\`; it is one of ${types}.`;
      this.#reader?.refuse({
        code: "VALUE_INVALID",
        at: type ?? map,
        message,
        remedy: suggest(written, TYPES.keys()),
      });
    }
    return undefined;
  }

  #reportUnknown(key: string, at: Range): void {
    const known = [...COLLECTIONS.keys(), MIXED];
    this.#reader?.problems.unknownKey(key, known, { where: "in a file of agents", at, remedy: suggest(key, known) });
  }
}

/** Reads names from a text that has not been checked. */
export function listComponentNames(root: YamlNode, wanted: ComponentKind): readonly string[] {
  const { components } = findComponents(root, undefined);
  return components.flatMap(({ kind, map, key }) => {
    const name = map.entries.get("name")?.value;
    const written = name?.kind === "scalar" && !isNull(name) ? String(name.value) : key?.name;
    return kind === wanted && written !== undefined ? [written] : [];
  });
}

const LONGEST_NAME = 200;

export interface NameRule {
  /** `Agent`, as the original's message begins. */
  readonly what: string;
  /** The first that is there. */
  readonly keys: readonly [string, ...string[]];
}

/** Reports what is missing in the words of the original: "Agent definition missing 'name'". */
export function readName(
  { map, key }: { readonly map: YamlMap; readonly key?: Component["key"] },
  { what, keys }: NameRule,
  reader: Reader,
): Named | undefined {
  const node = keys.map((each) => map.entries.get(each)?.value).find((value) => value !== undefined && !isNull(value));
  if (node === undefined && key !== undefined && key.name.trim() !== "") return key;
  if (node !== undefined && node.kind !== "scalar") {
    const message = `The name of the ${what.toLowerCase()} must be a text.`;
    return reader.refuse({ code: "WRONG_TYPE", at: node, message });
  }
  const name = node === undefined ? "" : typeof node.value === "string" ? node.value : node.written;
  if (node === undefined || name.trim() === "") {
    const at = node ?? startOf(map);
    const message = `${what} definition missing '${keys[0]}'`;
    return reader.refuse({ code: "KEY_MISSING", at, message, remedy: `Add \`${keys[0]}\`.` });
  }
  const { length } = [...name];
  if (length > LONGEST_NAME) {
    const message = `The name has ${length} characters; ${LONGEST_NAME} are allowed.`;
    reader.invalid(node, message, "Shorten it.");
  }
  return { name, at: node };
}

const NAME = { type: ["string", "number", "boolean"], pattern: "\\S", maxLength: LONGEST_NAME };

/** The schema of a component with the rule for its name. In a map its key is its name, unless it has one itself. */
export function withName(schema: JsonObject, { keys }: NameRule, where: "list" | "map"): JsonObject {
  const [first, second] = keys;
  const nothing: JsonObject = { type: "null" };
  const alternatives: Json[] = [{ required: [first], properties: { [first]: NAME } }];
  if (second !== undefined) alternatives.push({ required: [second], properties: { [first]: nothing, [second]: NAME } });
  if (where === "map") alternatives.push({ properties: Object.fromEntries(keys.map((key) => [key, nothing])) });
  return { allOf: [schema, { anyOf: alternatives }] };
}
