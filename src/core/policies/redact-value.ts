import type { Policy } from "../graph/policy.ts";
import { isJsonObject, isNumber, type Json } from "../json.ts";
import { type FindAll, findInText, replaceFound } from "./find-in-text.ts";

/** A value without what the policies look for, in texts, names and numbers, however deep. `undefined`: it cannot be searched. */
export function redactValue(policies: readonly Policy[], value: Json, findAll: FindAll): Json | undefined {
  try {
    return redact(value, (text) => redactText(policies, text, findAll));
  } catch (error) {
    if (error instanceof Unsearchable) return undefined;
    throw error;
  }
}

class Unsearchable extends Error {}

/** A removal may create a new match beside it, and a replacement may match itself for ever. */
const MAX_ROUNDS = 5;

function redactText(policies: readonly Policy[], text: string, findAll: FindAll): string {
  return policies.reduce((rest, { when, replacement }) => {
    let left = rest;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const found = findInText(when, left, findAll);
      if (found === undefined) throw new Unsearchable();
      if (found.length === 0) break;
      left = replaceFound(left, found, replacement);
    }
    return left;
  }, text);
}

function redact(value: Json, redactIn: (text: string) => string): Json {
  if (typeof value === "string") return redactIn(value);
  if (isNumber(value)) {
    const plain = String(value);
    const redacted = redactIn(plain);
    return redacted === plain ? value : redacted;
  }
  if (Array.isArray(value)) return value.map((item) => redact(item, redactIn));
  if (!isJsonObject(value)) return value;
  const redacted = new Map<string, Json>();
  for (const [name, item] of Object.entries(value)) {
    if (item !== undefined) redacted.set(freeName(redactIn(name), redacted), redact(item, redactIn));
  }
  return Object.fromEntries(redacted);
}

/** Two names that become one keep both their values. */
function freeName(name: string, taken: ReadonlyMap<string, Json>): string {
  let free = name;
  for (let n = 2; taken.has(free); n += 1) free = `${name} ${n}`;
  return free;
}
