import { isJsonObject, type Json } from "../json.ts";
import { parseJson } from "../parse-json.ts";
import type { Scope } from "./expr.ts";

/** Follows a path through own properties only; a path that leads nowhere is undefined. */
export function readPath(
  value: Json | undefined,
  path: readonly (string | number)[],
  readsJson = false,
  reader?: Pick<Scope, "parse">,
): Json | undefined {
  let current = value;
  for (const key of path) {
    if (readsJson && typeof current === "string") current = parseContainer(current, reader);
    current = readKey(current, key);
    if (current === undefined) return undefined;
  }
  return current;
}

export function readKey(value: Json | undefined, key: string | number): Json | undefined {
  if (Array.isArray(value)) {
    const index = typeof key === "number" ? key : /^(0|[1-9][0-9]{0,8})$/.test(key) ? Number(key) : undefined;
    return index !== undefined && Object.hasOwn(value, index) ? value[index] : undefined;
  }
  if (isJsonObject(value)) return Object.hasOwn(value, key) ? value[key] : undefined;
  return undefined;
}

/** JSON objects and lists only: a string that happens to read as a number stays a string. */
function parseContainer(text: string, reader: Pick<Scope, "parse"> | undefined): Json | undefined {
  const [first] = /\S/.exec(text) ?? [];
  if (first !== "{" && first !== "[") return undefined;
  return reader?.parse === undefined ? parseJson(text) : reader.parse(text);
}
