import type { Answerer } from "../../core/trust/approvers.ts";
import type { Principal } from "./ports.ts";

/** Whom the key proves. Undefined: the operator. */
export function whoAsks({ key }: Principal): Answerer | undefined {
  return key && { name: key.name, key: key.id, groups: key.groups };
}
