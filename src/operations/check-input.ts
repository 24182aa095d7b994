import { PawlError } from "../core/errors/pawl-error.ts";
import type { InputContract } from "../core/graph/graph.ts";
import type { JsonObject } from "../core/json.ts";

/** The input with the defaults that it leaves open. Throws `INPUT_INVALID` with the path of what does not fit. */
export async function checkInput(given: JsonObject, { schema, defaults }: InputContract): Promise<JsonObject> {
  const input = { ...defaults, ...given };
  if (schema === undefined) return input;
  const { JsonSchemaChecker } = await import("../dialects/json-schema-checker.ts");
  const reason = await new JsonSchemaChecker().explainMismatch(schema, input);
  if (reason === undefined) return input;
  throw new PawlError("INPUT_INVALID", { message: `The input does not fit: ${reason.replace(/\bit\b/g, "input")}.` });
}
