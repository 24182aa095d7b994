import { isPawlError, PawlError } from "../../../core/errors/pawl-error.ts";
import type { InputContract } from "../../../core/graph/graph.ts";
import { asObject, isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { JsonSchemas } from "../../../schemas/json-schemas.ts";

/**
 * The input with the defaults that it leaves open. Throws `INPUT_INVALID` with the path of what does not fit. Who checks
 * often brings a checker, which keeps what it has compiled.
 */
export async function checkInput(
  given: JsonObject,
  contract: InputContract,
  checker?: JsonSchemas,
): Promise<JsonObject> {
  const { schema, defaults } = contract;
  // A copy of very many names takes long.
  const input = Object.keys(defaults).length === 0 ? given : { ...defaults, ...given };
  try {
    if (schema !== undefined) await checkPayload(input, schema, checker);
  } catch (error) {
    const missing = listMissing(given, contract).map((each) => ({ ...each }));
    if (!isPawlError(error) || missing.length === 0) throw error;
    const { code, message, details } = error;
    throw new PawlError(code, { message, details: { ...asObject(details), missing } });
  }
  return input;
}

export interface MissingInput {
  readonly name: string;
  /** JSON Schema of its value. */
  readonly schema: JsonObject;
}

/** Lists inputs that the schema requires, and that neither the input nor a default gives. */
export function listMissing(given: JsonObject, { schema, defaults }: InputContract): readonly MissingInput[] {
  const { required, properties } = schema ?? {};
  const names = Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
  return names
    .filter((name) => !Object.hasOwn(given, name) && !Object.hasOwn(defaults, name))
    .map((name) => {
      const property = isJsonObject(properties) ? properties[name] : undefined;
      return { name, schema: isJsonObject(property) ? property : {} };
    });
}

/** Throws `INPUT_INVALID`, with every violation in its details. */
export async function checkPayload(payload: Json, schema: JsonObject, checker?: JsonSchemas): Promise<void> {
  const used = checker ?? (await createChecker());
  const mismatches = await used.listMismatches(schema, payload);
  const [first] = mismatches;
  if (first === undefined) return;
  throw new PawlError("INPUT_INVALID", {
    message: `The input does not fit: input${first.path} ${first.message}.`,
    details: { violations: mismatches.map(({ path, message }) => ({ path, message })) },
  });
}

async function createChecker(): Promise<JsonSchemas> {
  const { JsonSchemas } = await import("../../../schemas/json-schemas.ts");
  return new JsonSchemas();
}
