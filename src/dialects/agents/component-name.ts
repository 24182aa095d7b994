import type { Json, JsonObject } from "../../core/json.ts";
import type { Reader } from "../shape/shape.ts";
import { isNull, startOf, type YamlMap } from "../source/yaml-node.ts";
import type { Named } from "./agents-file.ts";
import type { Component } from "./component.ts";

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
