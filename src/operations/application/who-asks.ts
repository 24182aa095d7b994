import type { Identity } from "../../core/history/events.ts";
import type { Principal } from "./ports.ts";

/** Whom the key proves. Undefined: the operator. */
export function whoAsks({ key }: Principal): Identity | undefined {
  return key && { name: key.name, key: key.id };
}
