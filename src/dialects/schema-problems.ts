import type { ErrorObject, ValidateFunction } from "ajv";
import type { Json } from "../core/json.ts";
import { suggest } from "./did-you-mean.ts";
import type { Finding, ProblemList } from "./problem-list.ts";
import { toExcerpt } from "./source/printable.ts";
import type { Range } from "./source/source-text.ts";
import { describeNode, findBracesKey, isNull, READ_AS_MAP, type YamlNode } from "./source/yaml-node.ts";

export interface StructureRules {
  /** Made by Ajv with `allErrors`, `verbose` and `ownProperties`. */
  readonly validate: ValidateFunction;
  /** What a key is that the schema does not know. */
  readonly unknownKeys: "error" | "warning";
}

/**
 * Reports where a definition does not have the structure that its dialect's JSON Schema describes, each fault at its
 * place. Returns where the errors are, so that nothing is said about what follows from them.
 */
export function reportSchemaProblems(
  root: YamlNode,
  { validate, unknownKeys }: StructureRules,
  problems: ProblemList,
): readonly Range[] {
  if (validate(toInstance(root))) return [];
  const faulty: Range[] = [];
  for (const error of validate.errors ?? []) {
    const finding = toFinding(error, locate(root, error.instancePath));
    if (finding === undefined) continue;
    if (error.keyword === "sameAs") {
      problems.warning(finding);
    } else if (error.keyword === "additionalProperties" && unknownKeys === "warning") {
      problems.warning({ ...finding, message: `${finding.message.slice(0, -1)} and is ignored.` });
    } else {
      problems.error(finding);
      faulty.push(finding.at);
    }
  }
  return faulty;
}

/** As JSON; a key without a value counts as absent. */
function toInstance(node: YamlNode): Json {
  switch (node.kind) {
    case "scalar":
      return node.value;
    case "list":
      return node.items.map(toInstance);
    case "map": {
      const written = [...node.entries].filter(([, { value }]) => !isNull(value));
      return Object.fromEntries(written.map(([key, { value }]) => [key, toInstance(value)]));
    }
  }
}

/** A part of the definition that an error is about. */
interface Part {
  readonly node: YamlNode;
  /** The key before it, or where the definition begins. */
  readonly key: Range;
  /** In a message: its key, or the key of the list that it is in. */
  readonly name: string;
  readonly path: string;
}

function locate(root: YamlNode, pointer: string): Part {
  let part: Part = { node: root, key: firstKey(root), name: "The definition", path: "" };
  for (const key of pointer.split("/").slice(1).map(unescapePointer)) {
    const entry = part.node.kind === "map" ? part.node.entries.get(key) : undefined;
    const item = part.node.kind === "list" ? part.node.items[Number(key)] : undefined;
    const shown = toExcerpt(key);
    const path = part.path === "" ? shown : `${part.path}.${shown}`;
    if (entry !== undefined) part = { node: entry.value, key: entry.key, name: `\`${shown}\``, path };
    else if (item !== undefined) part = { node: item, key: item, name: `An entry of \`${part.path}\``, path };
  }
  return part;
}

function unescapePointer(part: string): string {
  return part.replaceAll("~1", "/").replaceAll("~0", "~");
}

function firstKey(root: YamlNode): Range {
  const [first] = root.kind === "map" ? root.entries.values() : [];
  return first?.key ?? { start: root.start, end: Math.min(root.end, root.start + 1) };
}

function toFinding(error: ErrorObject, part: Part): Finding | undefined {
  // Of a key that is not allowed Ajv says both what is wrong and that something is wrong; of `if` only the latter.
  if (error.keyword === "if" || error.keyword === "propertyNames") return undefined;
  if (error.propertyName !== undefined) return toKeyFinding(error.propertyName, error, part);
  const { node } = part;
  switch (error.keyword) {
    case "required":
      return toMissing(String(error.params["missingProperty"]), part);
    case "additionalProperties":
      return toUnknown(String(error.params["additionalProperty"]), error, part);
    case "type":
      return toWrongType(error, part);
    case "enum":
    case "const":
      return toNotAmong(error, part);
    case "sameAs":
      return toSecondSpelling(String(error.params["key"]), part);
    case "pattern":
      return { code: "VALUE_INVALID", at: node, ...explainPattern(error, part) };
    case "minLength":
      return { code: "VALUE_INVALID", at: node, message: `${part.name} must not be empty.`, remedy: "Write a text." };
    case "minItems":
    case "minProperties":
      // What stands there without a value has a problem of its own.
      if (hasEntries(node)) return undefined;
      return { code: "VALUE_INVALID", at: node, message: `${part.name} is empty.`, remedy: "Add an entry." };
    default: {
      const message = `${part.name} ${error.message ?? "is not valid"}.`;
      return { code: "VALUE_INVALID", at: node, message, remedy: toRemedy(error) ?? "Write a value that fits." };
    }
  }
}

function hasEntries(node: YamlNode): boolean {
  return node.kind === "map" && node.entries.size > 0;
}

function toKeyFinding(name: string, error: ErrorObject, { node, key }: Part): Finding {
  const at = node.kind === "map" ? (node.entries.get(name)?.key ?? key) : key;
  return { code: "STEP_ID_INVALID", at, message: `\`${toExcerpt(name)}\` cannot be an id.`, remedy: toRemedy(error) };
}

function toSecondSpelling(first: string, { key, name }: Part): Finding {
  const message = `${name} is ignored: \`${first}\` means the same, says something else, and wins.`;
  return { code: "KEY_DUPLICATE", at: key, message };
}

function toMissing(name: string, { key, path }: Part): Finding {
  const owner = path === "" ? "The definition" : `\`${path}\``;
  return { code: "KEY_MISSING", at: key, message: `${owner} has no \`${name}\`.`, remedy: `Add \`${name}\`.` };
}

function toUnknown(name: string, { parentSchema }: ErrorObject, { node, key, path }: Part): Finding {
  const at = node.kind === "map" ? (node.entries.get(name)?.key ?? key) : key;
  const known = Object.keys((parentSchema?.["properties"] as object | undefined) ?? {});
  const where = path === "" ? "here" : `in \`${path}\``;
  const message = `\`${toExcerpt(name)}\` means nothing ${where}.`;
  return { code: "UNKNOWN_KEY", at, message, remedy: suggest(name, known) };
}

function toWrongType({ params }: ErrorObject, { node, name }: Part): Finding {
  const types = [params["type"] as string | readonly string[]].flat();
  if (types.includes("string") && findBracesKey(node) !== undefined) {
    return { code: "UNQUOTED_BRACES", at: node, message: READ_AS_MAP };
  }
  // A whole number beside a text is one that YAML makes of a name such as `1`.
  const named = types.filter((type) => type !== "integer" || !types.includes("string"));
  const expected = named.map((type) => TYPE_NAMES.get(type) ?? type).join(" or ");
  const message = `${name} must be ${expected}, not ${describeNode(node)}.`;
  return { code: "WRONG_TYPE", at: node, message, remedy: `Write ${expected}.` };
}

const TYPE_NAMES: ReadonlyMap<string, string> = new Map([
  ["string", "a text"],
  ["number", "a number"],
  ["integer", "a whole number"],
  ["boolean", "true or false"],
  ["object", "a map"],
  ["array", "a list"],
  ["null", "nothing"],
]);

function toNotAmong({ params }: ErrorObject, { node, name }: Part): Finding {
  const allowed = [params["allowedValues"] ?? params["allowedValue"]].flat().map(String);
  const written = node.kind === "scalar" ? node.written : describeNode(node);
  const rule = allowed.length === 1 ? `must be ${allowed[0]}` : `is one of ${allowed.join(", ")}`;
  const message = `${name} cannot be \`${toExcerpt(written)}\`; it ${rule}.`;
  return { code: "VALUE_INVALID", at: node, message, remedy: suggest(written, allowed) };
}

function explainPattern(error: ErrorObject, { node, name }: Part) {
  const written = node.kind === "scalar" ? toExcerpt(node.written) : "";
  const remedy = toRemedy(error) ?? `It must match ${String(error.params["pattern"])}.`;
  return { message: `${name} cannot be \`${written}\`.`, remedy };
}

/** By what the schema says for people, and its examples: few people read regular expressions. */
function toRemedy({ parentSchema }: ErrorObject): string | undefined {
  const allowed = parentSchema?.["allowed"] as string | undefined;
  const examples = [(parentSchema?.["examples"] as readonly Json[] | undefined) ?? []].flat();
  if (examples.length === 0) return undefined;
  const shown = examples.map((example) => `\`${String(example)}\``).join(" or ");
  return allowed === undefined ? `Write it like ${shown}.` : `${allowed}, for example ${shown}.`;
}
