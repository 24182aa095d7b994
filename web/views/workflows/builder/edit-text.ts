import { writeExact } from "pawl/client";
import {
  Document,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";

/** The way to a value: keys of objects and numbers of entries. */
type Path = readonly (string | number)[];

/** What a definition says, as far as it can be read while it is being written. YAML reads JSON too. */
export function readDefinition(text: string): unknown {
  const doc = parseDocument(text, { logLevel: "silent" });
  return doc.errors.length > 0 ? undefined : doc.toJS();
}

/**
 * The text with another value at a path. Everything else stays as it is, letter by letter: comments, blank lines, quotes and order.
 * The object around it is made if it is missing.
 */
export function setAt(text: string, path: Path, value: unknown): string {
  const doc = parseDocument(text, { logLevel: "silent" });
  const parent = doc.getIn(path.slice(0, -1), true);
  const key = path.at(-1);
  if (key === undefined) return text;
  if (isSeq(parent) && typeof key === "number") return replaceEntry(text, parent, key, value);
  if (!isMap(parent)) {
    const outer = path.slice(0, -1);
    return outer.length === 0 ? text : setAt(text, outer, { [key]: value });
  }
  const pair = findPair(parent, String(key));
  return pair === undefined ? addPair(text, parent, String(key), value) : replacePair(text, parent, pair, value);
}

/** The text without the field or the entry at a path. */
export function removeAt(text: string, path: Path): string {
  const doc = parseDocument(text, { logLevel: "silent" });
  const parent = doc.getIn(path.slice(0, -1), true);
  const key = path.at(-1);
  const items: readonly unknown[] = isMap(parent) || isSeq(parent) ? parent.items : [];
  const index = isMap(parent) ? parent.items.findIndex((pair) => keyOf(pair) === String(key)) : Number(key);
  const item = items[index];
  if (item === undefined || !(isMap(parent) || isSeq(parent))) return text;
  const [from, to] = rangeOf(item);
  if (parent.flow === true) {
    const next = items[index + 1];
    const before = items[index - 1];
    if (next !== undefined) return cut(text, from, rangeOf(next)[0]);
    return before === undefined ? cut(text, from, to) : cut(text, rangeOf(before)[1], to);
  }
  // The last field goes with its object: an empty one could not be written in lines.
  if (items.length === 1 && path.length > 1) return removeAt(text, path.slice(0, -1));
  const start = startOfLine(text, from);
  const next = items[index + 1];
  const isFirstBehindDash = isMap(parent) && /-\s+$/.test(text.slice(start, from));
  if (isFirstBehindDash && next !== undefined) return cut(text, from, rangeOf(next)[0]);
  return cut(text, start, endOfLines(text, to));
}

/** The text with one more entry in the list at a path, or one more field `key` in the object there. */
export function appendTo(text: string, path: Path, value: unknown): string {
  const doc = parseDocument(text, { logLevel: "silent" });
  const list = doc.getIn(path, true);
  if (!isSeq(list) || list.items.length === 0) return setAt(text, path, [value]);
  const last = list.items.at(-1);
  const [, to] = rangeOf(last);
  if (list.flow === true) return put(text, to, `${separatorIn(text, list)}${toJson(value, indentIn(text, list))}`);
  const dash = text.lastIndexOf("-", rangeOf(last)[0]);
  const indent = dash - startOfLine(text, dash);
  const [entry = ""] = [toYaml([value], indent)];
  const gap = list.items.length === 1 || isSpaced(text, list) ? "\n" : "";
  return putBelow(text, to, `${gap}${entry}`);
}

/** Places where a step is named: what they say changes with the step's name. */
const NAMES_A_STEP = new Set(
  [
    ["depends_on", "after"],
    ["startAt", "nextStep", "nextStepId", "onSuccess", "onFailure", "onFailureDefault", "body", "finally", "catch"],
    ["initial_state", "next_state", "on_timeout"],
  ].flat(),
);

/** The text with another name of a step wherever it is named: as a key of `steps` or `states`, as an id, and in paths `steps.NAME`. */
export function renameStep(text: string, before: string, after: string): string {
  const doc = parseDocument(text, { logLevel: "silent" });
  const isJson = text.trimStart().startsWith("{");
  const found: (readonly [from: number, to: number])[] = [];
  visit(doc, {
    Scalar(at, node, ancestors) {
      if (String(node.value) !== before || !node.range) return;
      const parent = ancestors.at(-1);
      const pair = isSeq(parent) ? ancestors.at(-2) : parent;
      if (!isPair(pair)) return;
      const key = keyOf(pair);
      const map = ancestors.at(isSeq(parent) ? -3 : -2);
      const isStepsKey = at === "key" && [doc.get("steps", true), doc.get("states", true)].some((each) => each === map);
      const isName = at !== "key" && (NAMES_A_STEP.has(key) || (key === "id" && !isSeq(parent)));
      if (isStepsKey || isName) found.push([node.range[0], node.range[1]]);
    },
  });
  const written = isJson || !/^[A-Za-z_][\w-]*$/.test(after) ? writeExact(after) : after;
  let next = text;
  for (const [from, to] of found.toSorted((a, b) => b[0] - a[0]))
    next = next.slice(0, from) + written + ended(text, to) + next.slice(to);
  return next.replaceAll(
    new RegExp(`\\bsteps\\.${before.replace(/[^\w-]/g, "\\$&")}(?![\\w-])`, "g"),
    `steps.${after}`,
  );
}

function replaceEntry(text: string, list: YAMLSeq, index: number, value: unknown): string {
  const item = list.items[index];
  if (item === undefined) return text;
  const [from, to] = rangeOf(item);
  return text.slice(0, from) + toJson(value, indentIn(text, list)) + ended(text, to) + text.slice(to);
}

function replacePair(text: string, map: YAMLMap, pair: Pair, value: unknown): string {
  const [from, to] = rangeOf(pair);
  const column = from - startOfLine(text, from);
  const key = keyOf(pair);
  const written =
    map.flow === true
      ? `${text.slice(from, rangeOf(pair.key)[1])}: ${toJson(value, indentIn(text, map))}`
      : toYaml({ [key]: value }, column)
          .trimStart()
          .replace(/\n$/, "");
  return text.slice(0, from) + written + ended(text, to) + text.slice(to);
}

function addPair(text: string, map: YAMLMap, key: string, value: unknown): string {
  const last = map.items.at(-1);
  if (map.flow === true) {
    const indent = indentIn(text, map);
    const written = `${writeExact(key)}: ${toJson(value, indent)}`;
    if (last !== undefined) return put(text, rangeOf(last)[1], `${separatorIn(text, map)}${written}`);
    const open = map.range?.[0] ?? 0;
    const close = text.lastIndexOf("}", (map.range?.[1] ?? text.length) - 1);
    const outer = indentOfLine(text, open);
    return `${text.slice(0, open)}{\n${" ".repeat(outer + 2)}${written}\n${" ".repeat(outer)}${text.slice(close)}`;
  }
  if (last === undefined) return text;
  const [from] = rangeOf(map.items[0]);
  const gap = isSpaced(text, map) ? "\n" : "";
  return putBelow(text, rangeOf(last)[1], `${gap}${toYaml({ [key]: value }, from - startOfLine(text, from))}`);
}

/** A blank line stands before the last entry, and so before another one. */
function isSpaced(text: string, { items }: YAMLMap | YAMLSeq): boolean {
  const before = items.at(-2);
  return before !== undefined && /\n[ \t]*\n/.test(text.slice(rangeOf(before)[1] - 1, rangeOf(items.at(-1))[0]));
}

function findPair(map: YAMLMap, key: string): Pair | undefined {
  return map.items.find((pair) => keyOf(pair) === key);
}

function keyOf(pair: Pair): string {
  return isScalar(pair.key) ? String(pair.key.value) : String(pair.key);
}

/** From its first to behind its last letter. The end of a block of text is the end of its last line. */
function rangeOf(item: unknown): readonly [from: number, to: number] {
  if (isPair(item)) {
    const [from, keyEnd] = rangeOf(item.key);
    const hasValue = item.value !== null && item.value !== undefined && (item.value as Node).range;
    return [from, hasValue ? Math.max(keyEnd, rangeOf(item.value)[1]) : keyEnd];
  }
  const [from = 0, to = 0] = (item as Node | undefined)?.range ?? [];
  return [from, to];
}

function ended(text: string, to: number): string {
  return text[to - 1] === "\n" ? "\n" : "";
}

/** Below the line in which something ends, as lines of their own. */
function putBelow(text: string, to: number, lines: string): string {
  if (text[to - 1] === "\n") return text.slice(0, to) + lines + text.slice(to);
  const end = text.indexOf("\n", to);
  return end === -1 ? `${text}\n${lines}` : text.slice(0, end + 1) + lines + text.slice(end + 1);
}

function put(text: string, at: number, written: string): string {
  return text.slice(0, at) + written + text.slice(at);
}

function cut(text: string, from: number, to: number): string {
  return text.slice(0, from) + text.slice(to);
}

function startOfLine(text: string, at: number): number {
  return text.lastIndexOf("\n", at - 1) + 1;
}

function indentOfLine(text: string, at: number): number {
  return /^[ \t]*/.exec(text.slice(startOfLine(text, at)))?.[0].length ?? 0;
}

function endOfLines(text: string, to: number): number {
  if (text[to - 1] === "\n") return to;
  const end = text.indexOf("\n", to);
  return end === -1 ? text.length : end + 1;
}

/** The indentation of the lines of a flow collection; -1 where all of it stands in one line. */
function indentIn(text: string, { range, items }: YAMLMap | YAMLSeq): number {
  const [first] = items.length === 0 ? [0] : rangeOf(items[0]);
  const isOneLine = !text.slice(range?.[0] ?? 0, first).includes("\n");
  return isOneLine ? -1 : first - startOfLine(text, first);
}

function separatorIn(text: string, node: YAMLMap | YAMLSeq): string {
  const indent = indentIn(text, node);
  return indent === -1 ? ", " : `,\n${" ".repeat(indent)}`;
}

/** JSON, which is YAML between brackets too. In lines where those around it have lines. */
function toJson(value: unknown, indent: number): string {
  if (indent !== -1 && typeof value === "object")
    return writeExact(value, 2).replaceAll("\n", `\n${" ".repeat(indent)}`);
  return writeExact(value);
}

/** Lines of YAML, indented. Lists of words stand in one line, long texts as they are. */
function toYaml(value: unknown, indent: number): string {
  const doc = new Document(value);
  visit(doc, {
    Seq(_, node) {
      if (node.items.every((item) => isScalar(item))) node.flow = true;
    },
  });
  const lines = doc.toString({ lineWidth: 0, flowCollectionPadding: false, blockQuote: "literal" }).split("\n");
  return lines.map((line) => (line === "" ? line : " ".repeat(indent) + line)).join("\n");
}
