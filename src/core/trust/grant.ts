import { WRITTEN_DIALECTS } from "../graph/dialects.ts";
import { isJsonObject, type Json, type JsonObject } from "../json.ts";

/** What a definition may reach outside of itself: for each capability the names that it may use, `*` standing for any text. */
export type Grant = { readonly [Name in Capability]: readonly string[] };

export type Capability = keyof typeof CAPABILITIES;

interface CapabilityRow {
  /** In words, behind `may`. `{}`: the names. */
  readonly says: string;
  /** The same where every name is granted. */
  readonly saysAll: string;
  /** The names that a text has which is sent in a request. */
  readonly sent: readonly string[];
  /** The names that there are. Absent: any. Empty: the capability has no names, it is there or not. */
  readonly names?: readonly string[];
  /** Its names are paths, and a folder stands for all below it. */
  readonly arePaths?: boolean;
}

const row = (sent: "all" | "none", says: string, saysAll: string, names?: readonly string[]): CapabilityRow => ({
  says,
  saysAll,
  sent: sent === "all" ? ["*"] : [],
  ...(names === undefined ? {} : { names }),
});

/** Every capability. A text that is sent has those that cost only the money of its sender. */
export const CAPABILITIES = {
  dialects: row("all", "be written in {}", "be written in any dialect", WRITTEN_DIALECTS),
  executors: row("all", "have steps of the kinds {}", "have steps of any kind"),
  servers: row("all", "call the configured MCP servers {}", "call any configured MCP server"),
  commands: row("none", "", "run programs as MCP servers of their own", []),
  "own-servers": row("none", "", "name MCP servers of their own by an address", []),
  terminals: row("none", "", "open terminals", []),
  code: {
    ...row("none", "run code: {}", "run any code", ["sandbox", "network"]),
    sent: ["sandbox"],
  },
  variables: row("none", "read the variables {} of the environment", "read any variable of the environment"),
  addresses: row("none", "ask the private addresses {}", "ask any private address"),
  workflows: row("all", "call the workflows {}", "call any workflow"),
  folders: {
    ...row("none", "name the files and folders {} of the application", "name files and folders of the application"),
    arePaths: true,
  },
  storage: { ...row("all", "write {} into the storage", "write files into the storage"), arePaths: true },
} as const satisfies Record<string, CapabilityRow>;

export const CAPABILITY_NAMES = Object.keys(CAPABILITIES) as readonly Capability[];

/** The operator's own: files of the application, and users of its command line. */
export const EVERYTHING: Grant = toGrant(() => ["*"]);

/** Texts that are sent in requests, unless a grant gives them more. */
export const SENT: Grant = toGrant((name) => CAPABILITIES[name].sent);

export const NOTHING: Grant = toGrant(() => []);

export function toGrant(namesOf: (name: Capability) => readonly string[]): Grant {
  // Every capability has an entry, which the type of `fromEntries` cannot say.
  return Object.fromEntries(CAPABILITY_NAMES.map((name) => [name, namesOf(name)])) as unknown as Grant;
}

/** Whether a name may be used. Without one: whether the capability is there at all. */
export function allows(grant: Grant, capability: Capability, name?: string): boolean {
  const names = grant[capability];
  if (name === undefined) return names.length > 0;
  const { arePaths = false }: Pick<CapabilityRow, "arePaths"> = CAPABILITIES[capability];
  if (!arePaths || names.includes("*")) return names.some((pattern) => matches(pattern, name));
  return isPlainPath(name) && names.some((path) => matches(path, name) || matches(`${path}/*`, name));
}

/** A path that another spelling could lead elsewhere is below no folder. */
export function isPlainPath(path: string): boolean {
  return !path.includes("\\") && !path.split("/").some((segment) => ["", ".", ".."].includes(segment));
}

export function isEverything(grant: Grant): boolean {
  return CAPABILITY_NAMES.every((name) => grant[name].includes("*"));
}

/** Whether a holder of `grant` may give `other` away. */
export function covers(grant: Grant, other: Grant): boolean {
  return CAPABILITY_NAMES.every((name) => other[name].every((each) => allows(grant, name, each)));
}

/** What both grant. */
export function meet(one: Grant, other: Grant): Grant {
  return toGrant((name) => [
    ...new Set([
      ...one[name].filter((each) => allows(other, name, each)),
      ...other[name].filter((each) => allows(one, name, each)),
    ]),
  ]);
}

/** Whether a pattern fits. A name with a `*` of its own fits only a pattern that every such name fits. */
function matches(pattern: string, name: string): boolean {
  // Most are, and every request asks several times.
  if (pattern === "*" || pattern === name) return true;
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return pattern === name;
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false;
  const end = name.length - last.length;
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

/** For records. A grant that names capabilities one by one lacks those that a later version adds. */
export function toStored(grant: Grant): Json {
  if (isEverything(grant)) return "everything";
  return covers(SENT, grant) && covers(grant, SENT) ? "sent" : { ...grant };
}

/** Undefined: it was never recorded. Whatever cannot be read is not granted. */
export function fromStored(stored: Json | undefined): Grant | undefined {
  if (stored === undefined || stored === null) return undefined;
  if (stored === "everything") return EVERYTHING;
  if (stored === "sent") return SENT;
  const kept: JsonObject = isJsonObject(stored) ? stored : {};
  return toGrant((name) => {
    const names = Object.hasOwn(kept, name) ? kept[name] : undefined;
    return Array.isArray(names) ? names.filter((each) => typeof each === "string") : [];
  });
}

/** The grant of a graph, which stands in its settings. A graph of before, and one of the operator's, has none there. */
export function grantOf(settings: JsonObject): Grant {
  return fromStored(Object.hasOwn(settings, GRANT_KEY) ? settings[GRANT_KEY] : undefined) ?? EVERYTHING;
}

/** Settings with their grant. A dialect cannot write this key. */
export function withGrant(settings: JsonObject, grant: Grant): JsonObject {
  const { [GRANT_KEY]: _, ...rest } = settings;
  return isEverything(grant) ? rest : { ...rest, [GRANT_KEY]: toStored(grant) };
}

const GRANT_KEY = "grant";

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

/** Addresses beside the public ones: all, for an address that the operator wrote, or entries as in `outbound.allow`. */
export type Reach = "anywhere" | readonly string[];

/** The addresses that a definition with this grant may name. Undefined: the operator wrote it. */
export function reachOf(grant: Grant): Reach | undefined {
  if (isEverything(grant)) return undefined;
  return grant.addresses.includes("*") ? "anywhere" : grant.addresses;
}
