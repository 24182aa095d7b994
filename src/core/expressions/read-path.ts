import { isJsonObject, type Json } from "../json.ts";

/** Follows a path through own properties only; a path that leads nowhere is undefined. */
export function readPath(
  value: Json | undefined,
  path: readonly (string | number)[],
  readsJson = false,
): Json | undefined {
  let current = value;
  for (const key of path) {
    if (readsJson && typeof current === "string") current = parseContainer(current);
    current = readKey(current, key);
    if (current === undefined) return undefined;
  }
  return current;
}

export function readKey(value: Json | undefined, key: string | number): Json | undefined {
  if (Array.isArray(value)) {
    const index = typeof key === "number" ? key : toIndex(key);
    return index === undefined ? undefined : value[index];
  }
  if (isJsonObject(value)) return Object.hasOwn(value, key) ? value[key] : undefined;
  return undefined;
}

function toIndex(key: string): number | undefined {
  return /^(0|[1-9][0-9]{0,8})$/.test(key) ? Number(key) : undefined;
}

/** JSON objects and lists only: a string that happens to read as a number stays a string. */
function parseContainer(text: string): Json | undefined {
  const first = text.trimStart()[0];
  if (first !== "{" && first !== "[") return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
