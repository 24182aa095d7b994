import { isNull } from "../source/yaml-node.ts";
import type { Named } from "./agents-file.ts";
import type { Component } from "./component.ts";
import type { ParseContext } from "./parse-context.ts";

const LONGEST_NAME = 200;

export interface NameRule {
  /** `Agent`, as the original's message begins. */
  readonly what: string;
  /** The first that is there. */
  readonly keys: readonly [string, ...string[]];
}

/** Reports what is missing in the words of the original: "Agent definition missing 'name'". */
export function readName(
  component: Component,
  { what, keys }: NameRule,
  { problems }: ParseContext,
): Named | undefined {
  const { map, key } = component;
  const node = keys.map((each) => map.entries.get(each)?.value).find((value) => value !== undefined && !isNull(value));
  if (node === undefined && key !== undefined && key.name.trim() !== "") return key;
  if (node !== undefined && node.kind !== "scalar") {
    problems.error({ code: "WRONG_TYPE", at: node, message: `The name of the ${what.toLowerCase()} must be a text.` });
    return undefined;
  }
  const name = node === undefined ? "" : typeof node.value === "string" ? node.value : node.written;
  if (node === undefined || name.trim() === "") {
    const at = node ?? [...map.entries.values()][0]?.key ?? map;
    const message = `${what} definition missing '${keys[0]}'`;
    problems.error({ code: "KEY_MISSING", at, message, remedy: `Add \`${keys[0]}\`.` });
    return undefined;
  }
  if (name.length > LONGEST_NAME) {
    const message = `The name has ${name.length} characters; ${LONGEST_NAME} are allowed.`;
    problems.error({ code: "VALUE_INVALID", at: node, message, remedy: "Shorten it." });
  }
  return { name, at: node };
}
