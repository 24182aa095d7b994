import { isMap, isScalar, isSeq, type Pair, parseDocument, type Scalar, visit } from "yaml";

/** What a person may do to a file: one slip, and what it was. */
export interface Slip {
  readonly kind: SlipKind;
  readonly what: string;
  readonly text: string;
}

type SlipKind = "key" | "placeholder" | "step" | "tool" | "file" | "missing key" | "type" | "reference" | "schema";

/** Draws from a seed, the same numbers each time. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to, without, `below`. */
  next(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below;
  }

  pick<T>(of: readonly T[]): T | undefined {
    return of[Math.floor(this.next(of.length))];
  }
}

/** Maps whose keys are the writer's own, or another program's. */
const OWN_NAMES = new Set(
  "input_schema inputSchema output_schema outputSchema schema properties params inputMapping input_mapping output_mapping arguments parameters environment headers query data initial_variables field_equals field_contains env variables body defaults context configuration mcp_servers".split(
    " ",
  ),
);
const SCHEMAS = new Set(["input_schema", "inputSchema", "output_schema", "outputSchema"]);
const KEYWORDS = new Set("type properties items required enum minimum maximum description".split(" "));
/** Maps from the names of steps. */
const STEP_MAPS = new Set(["steps", "states"]);
/** They name steps. */
const TO_STEPS = new Set(
  "depends_on each nextStep startAt start_at initial_state next_state on_timeout onSuccess onFailure onFailureDefault".split(
    " ",
  ),
);
const TOOLS = new Set(["tool", "target", "tools", "mcp_servers", "server"]);
const FILES = new Set(["script", "promptTemplate", "prompt_template", "workflow", "workflowId", "server_path"]);
/** Keys without which their map means nothing, in each dialect. */
const NEEDED = new Set(
  "id steps type target startAt name action tool params next_state initial_state states url script".split(" "),
);

interface Found {
  readonly kind: SlipKind;
  readonly what: string;
  apply(dice: Dice): string | undefined;
}

/** Every slip that can be made in a text. `known`: the keys of the dialect. */
export function findSlips(text: string, known: ReadonlySet<string>): readonly Found[] {
  const found: Found[] = [];
  const document = parseDocument(text);
  const declared = namesIn(document.toJS());
  const isJson = text.trimStart().startsWith("{") || text.trimStart().startsWith("[");
  const put = (range: readonly [number, number], written: string) =>
    text.slice(0, range[0]) + written + text.slice(range[1]);
  const add = (kind: SlipKind, what: string, apply: Found["apply"]) => found.push({ kind, what, apply });
  const misspell = (kind: SlipKind, { range, value }: Scalar, from: string, at = 0) => {
    if (range == null || typeof value !== "string" || !isWord(from)) return;
    const start = text.indexOf(from, range[0] + at);
    if (start === -1 || start + from.length > range[1]) return;
    add(kind, `${from} in ${excerpt(text, start)}`, (dice) => {
      const wrong = misspelt(from, dice);
      return wrong === undefined || known.has(wrong) ? undefined : put([start, start + from.length], wrong);
    });
  };
  visit(document, {
    Pair(_, pair, path) {
      const keys = path.flatMap((node) => ("key" in node && isScalar(node.key) ? [String(node.key.value)] : []));
      const { key, value } = pair as Pair<Scalar, unknown>;
      if (!isScalar(key) || key.range == null) return;
      const name = String(key.value);
      const isOwn = keys.some((each) => OWN_NAMES.has(each));
      const parent = keys.at(-1);
      if (parent !== undefined && STEP_MAPS.has(parent) && isMap(value) && !isOwn) {
        if (text.split(name).length > 2) misspell("step", key, name);
        return;
      }
      const inSchema = keys.some((each) => SCHEMAS.has(each)) && parent !== "properties";
      if (inSchema && KEYWORDS.has(name)) misspell("schema", key, name);
      if (isOwn) {
        addTexts(value);
        return;
      }
      if (known.has(name)) misspell("key", key, name);
      if (NEEDED.has(name) && known.has(name)) addDeletion(name, pair as Pair<Scalar, unknown>);
      // The name of a file of agents is for people.
      const isIgnored = isJson && keys.length === 0 && name === "name";
      if (known.has(name) && isScalar(value) && !isIgnored) addWrongType(name, value);
      for (const scalar of scalarsOf(value)) {
        if (TO_STEPS.has(name)) addReference(scalar);
        if (
          TOOLS.has(name) &&
          /[._]/.test(String(scalar.value)) &&
          !/\.(py|js|ts|ya?ml)\b|\s/.test(String(scalar.value))
        )
          addTool(scalar);
        if ((FILES.has(name) || name === "target") && /\.\w+([#:]|$)/.test(String(scalar.value))) addFile(scalar);
      }
      if (name === "id" && isScalar(value) && text.split(String(value.value)).length > 2)
        misspell("step", value, String(value.value));
      addTexts(value);
    },
  });
  return found;

  function addTexts(value: unknown): void {
    for (const scalar of isScalar(value) ? [value] : isSeq(value) ? scalarsOf(value) : []) addPlaceholders(scalar);
  }

  function addPlaceholders(scalar: Scalar): void {
    if (typeof scalar.value !== "string" || scalar.range == null) return;
    const source = text.slice(scalar.range[0], scalar.range[1]);
    for (const match of source.matchAll(/\b(?:input|steps|trigger)\.[\w.-]+/g)) {
      const parts = match[0].split(".");
      const last = parts[0] === "steps" ? 3 : 2;
      parts.slice(0, last).forEach((part, index) => {
        if (index === 1 && parts[0] === "input" && !declared.has(part)) return;
        if (index === 1 && parts[0] === "trigger") return;
        const at = match.index + parts.slice(0, index).join(".").length;
        misspell("placeholder", scalar, part, at);
      });
    }
    if (isJson && /^\{\w+\}$/.test(scalar.value)) misspell("placeholder", scalar, scalar.value.slice(1, -1));
  }

  function addReference(scalar: Scalar): void {
    const { value, range } = scalar;
    if (typeof value !== "string" || range == null || !/^[\w-]+$/.test(value)) return;
    misspell("step", scalar, value);
    const start = text.indexOf(value, range[0]);
    add("reference", `${value} in ${excerpt(text, start)}`, () => put([start, start + value.length], "nowhere_at_all"));
  }

  function addTool(scalar: Scalar): void {
    for (const part of String(scalar.value).split(".")) misspell("tool", scalar, part);
  }

  function addFile(scalar: Scalar): void {
    const [path = ""] = String(scalar.value).split(/[#:]/);
    const start = text.indexOf(path, scalar.range?.[0]);
    add("file", path, () => put([start, start + path.length], path.replace(/(\w+)(\.\w+)$/, "$1-moved$2")));
  }

  function addDeletion(name: string, pair: Pair<Scalar, unknown>): void {
    const { key } = pair;
    if (isJson || key.range == null) return;
    const lineStart = text.lastIndexOf("\n", key.range[0]) + 1;
    if (!/^[ -]*$/.test(text.slice(lineStart, key.range[0])) || !isScalar(pair.value)) return;
    const dash = text.slice(lineStart, key.range[0]).includes("-");
    const end = text.indexOf("\n", pair.value.range?.[1] ?? 0) + 1;
    if (end === 0 || dash) return;
    const line = text.slice(lineStart, end);
    if (line.trim().split("\n").length > 1) return;
    add("missing key", `${name} in ${excerpt(text, key.range[0])}`, () => text.slice(0, lineStart) + text.slice(end));
  }

  function addWrongType(name: string, value: Scalar): void {
    const { range } = value;
    if (range == null || FREE_VALUES.has(name) || value.type?.startsWith("BLOCK")) return;
    const wrong = typeof value.value === "string" ? "[1]" : typeof value.value === "number" ? '"many"' : "[1]";
    add("type", `${name} in ${excerpt(text, range[0])}`, () => put([range[0], range[1]], wrong));
  }
}

/** They take values of any type. */
const FREE_VALUES = new Set([
  "value",
  "default",
  "const",
  "list",
  "title",
  "dialect",
  "body",
  "version",
  "description",
  "custom_session_id",
  "$schema",
  "data",
]);

function scalarsOf(value: unknown): readonly Scalar[] {
  if (isScalar(value)) return [value];
  return isSeq(value) ? value.items.filter(isScalar) : [];
}

function namesIn(tree: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  const look = (value: unknown, inside: boolean) => {
    if (typeof value !== "object" || value === null) return;
    for (const [key, each] of Object.entries(value)) {
      if (inside) names.add(key);
      look(each, key === "properties");
    }
  };
  look(tree, false);
  return names;
}

function isWord(text: string): boolean {
  return /^[\w-]{4,}$/.test(text) && /[a-z]/i.test(text);
}

/** One letter too few, too many, or two in the wrong order. */
export function misspelt(word: string, dice: Dice): string | undefined {
  const at = 1 + Math.floor(dice.next(word.length - 2));
  const [before, here = "", next = ""] = [word.slice(0, at), word[at], word[at + 1]];
  if (!/[a-z]/i.test(here)) return undefined;
  const ways = [before + word.slice(at + 1), before + next + here + word.slice(at + 2), before + here + word.slice(at)];
  const wrong = dice.pick(ways);
  return wrong === word ? undefined : wrong;
}

function excerpt(text: string, at: number): string {
  const start = text.lastIndexOf("\n", at - 1) + 1;
  const end = text.indexOf("\n", at);
  return `line ${text.slice(0, at).split("\n").length}: ${text
    .slice(start, end === -1 ? undefined : end)
    .trim()
    .slice(0, 90)}`;
}
