import { type SpecTypeName, specTypeSchemas } from "@modelcontextprotocol/client";
import type { Json } from "../../core/json.ts";

/** Why a value is not of a type of the protocol: its first fault. Undefined: it is. */
export function findSpecFlaw(type: SpecTypeName, value: Json): string | undefined {
  const [issue] = specTypeSchemas[type]["~standard"].validate(value).issues ?? [];
  if (issue === undefined) return undefined;
  const path = (issue.path ?? []).map((part) => String(typeof part === "object" ? part.key : part));
  return `\`${path.join(".")}\` is wrong (${issue.message})`;
}
