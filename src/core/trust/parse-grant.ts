import { isJsonObject, type Json } from "../json.ts";
import {
  CAPABILITIES,
  CAPABILITY_NAMES,
  type Capability,
  EVERYTHING,
  type Grant,
  isPlainPath,
  NOTHING,
  SENT,
  toGrant,
} from "./grant.ts";

export type ParsedGrant = { readonly grant: Grant } | { readonly problem: string; readonly unknown?: string };

const WORDS: Readonly<Record<string, Grant>> = { everything: EVERYTHING, sent: SENT, nothing: NOTHING };

/** All words that a grant may begin an entry with. */
export const GRANT_WORDS: readonly string[] = [...Object.keys(WORDS), ...CAPABILITY_NAMES];

const NONE = "none";

/**
 * Reads `terminals,variables:API_*,servers:github`. What is not named stays as for texts that are sent; after `nothing` it is not
 * granted, after `everything` it is. `NAME` grants all of a capability, `NAME:X` only X (`NAME:X,NAME:Y` both), `NAME:none` nothing.
 */
export function parseGrant(text: string): ParsedGrant {
  const entries = text.split(",").map((entry) => entry.trim());
  return entries.some((entry) => entry === "")
    ? { problem: text.trim() === "" ? "it names nothing" : "it has an empty entry" }
    : combine(entries.map(toEntry));
}

/** Of a text that has been checked: what cannot be read grants no more than a text that is sent has. */
export function grantOfText(text: string): Grant {
  const parsed = parseGrant(text);
  return "grant" in parsed ? parsed.grant : SENT;
}

/** Reads the forms of JSON: a text as above, a list of its entries, or `{"terminals": true, "variables": ["API_*"]}`. */
export function readGrant(given: Json): ParsedGrant {
  if (typeof given === "string") return parseGrant(given);
  if (Array.isArray(given)) return parseGrant(given.join(","));
  if (!isJsonObject(given)) return { problem: "it is neither a text, a list nor an object" };
  return combine(
    Object.entries(given).flatMap(([word, value]) => {
      if (typeof value === "boolean") return [{ word, name: value ? undefined : NONE }];
      const names = Array.isArray(value) ? value : [value];
      return names.length === 0 ? [{ word, name: NONE }] : names.map((name) => ({ word, name }));
    }),
  );
}

interface Entry {
  readonly word: string;
  readonly name: Json | undefined;
}

/** Addresses have colons of their own: the first one counts. */
function toEntry(text: string): Entry {
  const colon = text.indexOf(":");
  return colon === -1
    ? { word: text, name: undefined }
    : { word: text.slice(0, colon).trim(), name: text.slice(colon + 1).trim() };
}

function combine(entries: readonly Entry[]): ParsedGrant {
  let base = SENT;
  const named = new Map<Capability, readonly string[]>();
  for (const [index, { word, name }] of entries.entries()) {
    const whole = Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
    if (whole !== undefined) {
      if (index > 0 || name !== undefined) return { problem: `\`${word}\` stands alone, before all others` };
      base = whole;
      continue;
    }
    const capability = CAPABILITY_NAMES.find((each) => each === word);
    if (capability === undefined) return { problem: `there is no capability \`${word}\``, unknown: word };
    const read = readName(capability, name);
    if ("problem" in read) return read;
    named.set(capability, [...new Set([...(named.get(capability) ?? []), ...read.names])]);
  }
  return { grant: toGrant((each) => named.get(each) ?? base[each]) };
}

function readName(
  capability: Capability,
  name: Json | undefined,
): { readonly names: readonly string[] } | { readonly problem: string } {
  if (name === undefined) return { names: ["*"] };
  if (name === NONE) return { names: [] };
  if (typeof name !== "string" || name === "" || name.length > MAX_NAME || /[\s,\p{Cc}]/u.test(name))
    return { problem: `\`${capability}\` names something that is no name` };
  const { names, arePaths }: { readonly names?: readonly string[]; readonly arePaths?: boolean } =
    CAPABILITIES[capability];
  if (arePaths === true) return readPath(capability, name);
  // The network is of no use without the code that uses it.
  if (names === undefined || name === "*" || names.includes(name))
    return { names: capability === "code" && name === "network" ? ["sandbox", "network"] : [name] };
  const known = names.length === 0 ? "it takes no names" : `it takes ${names.map((each) => `\`${each}\``).join(", ")}`;
  return { problem: `\`${capability}:${name}\`: ${known}` };
}

const MAX_NAME = 200;

/** `reports/` is `reports`. */
function readPath(capability: Capability, written: string) {
  const path = written.replace(/\/$/, "");
  if (isPlainPath(path)) return { names: [path] };
  return { problem: `\`${capability}:${written}\`: it takes paths without \`.\`, \`..\` and a \`/\` in front` };
}

/** The shortest text that `parseGrant` reads as this grant. */
export function writeGrant(grant: Grant): string {
  const candidates = Object.entries(WORDS).map(([word, base]) => {
    const changed = CAPABILITY_NAMES.filter((name) => !isEqual(grant[name], base[name]));
    const entries = changed.flatMap((name) => writeNames(name, grant[name]));
    return word === "sent" && entries.length > 0 ? entries.join(",") : [word, ...entries].join(",");
  });
  return candidates.reduce((shortest, each) => (each.length < shortest.length ? each : shortest));
}

function writeNames(capability: Capability, names: readonly string[]): readonly string[] {
  if (names.length === 0) return [`${capability}:${NONE}`];
  return names.includes("*") ? [capability] : names.map((name) => `${capability}:${name}`);
}

function isEqual(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name) => other.includes(name));
}
