import type { Field } from "../../../operations/fields.ts";
import type { CliVerb, PartOption } from "../../../operations/operation.ts";

/** The option of a field, as it is typed. Undefined: the verb has none for it. */
export function flagsOf({ args = [], fixed = {}, options = {}, isWhole }: CliVerb, field: Field): string | undefined {
  if (options === "none") return undefined;
  const { name, kind, aliasOf } = field;
  const written = options[name];
  if (args.includes(name) || name in fixed || written === false) return undefined;
  if (written !== undefined) return written;
  // `input` has options of its own: `-i` and `--input`. Pages by number are for other clients.
  if (aliasOf !== undefined || name === "offset" || name === "input") return undefined;
  if (isWhole === true && (name === "limit" || name === "cursor")) return undefined;
  const flag = `--${name.replaceAll("_", "-")}`;
  return kind === "boolean"
    ? flag
    : `${flag} <${kind === "number" ? "n" : kind === "json" ? "json" : name.split("_").at(-1)}>`;
}

/** The name under which the parsed command line has it. */
export function optionNameOf(verb: CliVerb, field: Field): string {
  return nameIn(flagsOf(verb, field) ?? "");
}

export function partNameOf({ flags }: PartOption): string {
  return nameIn(flags);
}

function nameIn(flags: string): string {
  const [, name = ""] = /--([\w-]+)/.exec(flags) ?? [];
  return name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
