import { CAPABILITIES, CAPABILITY_NAMES, type Capability, type Grant, isEverything } from "./grant.ts";

/** A grant in words, for people: what it allows, and what it does not. */
export function describeGrant(grant: Grant): { readonly may: readonly string[]; readonly mayNot: readonly string[] } {
  if (isEverything(grant)) return { may: ["do everything that the operator may"], mayNot: [] };
  const has = (name: Capability) => grant[name].length > 0;
  return {
    may: CAPABILITY_NAMES.filter(has).map((name) => sentence(name, grant[name])),
    mayNot: CAPABILITY_NAMES.filter((name) => !has(name)).map((name) => CAPABILITIES[name].saysAll),
  };
}

function sentence(name: Capability, names: readonly string[]): string {
  const { says, saysAll } = CAPABILITIES[name];
  return names.includes("*") || says === "" ? saysAll : says.replace("{}", names.join(", "));
}
