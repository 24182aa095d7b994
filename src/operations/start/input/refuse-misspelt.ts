import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { InputContract } from "../../../core/graph/graph.ts";
import { isJsonObject, type JsonObject } from "../../../core/json.ts";
import { didYouMean, isMisspelt } from "../../../dialects/did-you-mean.ts";

/**
 * Throws `INPUT_INVALID` with every name that the schema does not declare and that is most likely one that it declares,
 * misspelt. A declared name that is given too cannot be what was meant. A schema that says what other names hold takes any.
 */
export function refuseMisspelt(given: JsonObject, { schema = {} }: Pick<InputContract, "schema">): void {
  if (schema["patternProperties"] !== undefined || (schema["additionalProperties"] ?? false) !== false) return;
  const declared = declaredIn(schema);
  const absent = declared.filter((name) => !Object.hasOwn(given, name));
  const slips = Object.keys(given).flatMap((name) => {
    const isSlip = !declared.includes(name) && isMisspelt(name, absent);
    return isSlip ? [{ name, meant: didYouMean(name, absent) }] : [];
  });
  if (slips.length === 0) return;
  const violations = slips.map(({ name, meant }) => ({ path: `/${name}`, message: `did you mean \`${meant}\`?` }));
  const meant = [...new Set(slips.map((slip) => slip.meant))];
  throw new PawlError("INPUT_INVALID", {
    message: slips.map(({ name }, at) => `\`${name}\`: ${violations[at]?.message}`).join(" "),
    remedy: `Add \`${meant.map((name) => `-i ${name}=...`).join(" ")}\`; in a request, name the field so.`,
    details: { violations },
  });
}

function declaredIn({ properties, ...schema }: JsonObject): readonly string[] {
  const parts = ["allOf", "anyOf", "oneOf"].flatMap((name) => schema[name] ?? []);
  return [
    ...(isJsonObject(properties) ? Object.keys(properties) : []),
    ...parts.flatMap((part) => (isJsonObject(part) ? declaredIn(part) : [])),
  ];
}
