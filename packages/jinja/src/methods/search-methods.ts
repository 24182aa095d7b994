import type { FunctionTable } from "../functions/builtin.ts";
import { type Given, type Parameters, REQUIRED } from "../functions/given.ts";
import { wrong } from "../template-error.ts";
import { plain } from "../values/compare.ts";
import {
  findSpace,
  isSpace,
  sliceText,
  splitLines,
  stripEnd,
  stripStart,
  textLength,
  toPosition,
} from "../values/text.ts";
import { isText, type Rendering, Tuple, typeName, type Value } from "../values/value.ts";

const SPLIT = { sep: null, maxsplit: -1n };
const WITHIN = { start: null, end: null };

/** Methods of texts that look for something in them, or cut them there. */
export function addSearchMethods(table: FunctionTable): FunctionTable {
  const add = (name: string, parameters: Parameters, apply: (text: string, given: Given, to: Rendering) => Value) =>
    table.add(name, parameters, (value, given, rendering) => {
      const text = isText(value) ? plain(value) : "";
      rendering.meter.spendText(text.length);
      return apply(text, given, rendering);
    });
  add("split", SPLIT, (text, given, { meter }) => {
    meter.spendSearch(text, separator(given) ?? "");
    return paid(split(text, given), meter);
  });
  add("rsplit", SPLIT, (text, given, { meter }) => {
    meter.spendSearch(text, separator(given) ?? "");
    return paid(splitFromEnd(text, given), meter);
  });
  add("splitlines", { keepends: false }, (text, given, { meter }) =>
    paid(splitLines(text, given.isTrue("keepends")), meter),
  );
  add("partition", { sep: REQUIRED }, (text, given, { meter }) => {
    meter.spendSearch(text, given.text("sep"));
    const at = text.indexOf(separator(given) ?? "");
    return new Tuple(at < 0 ? [text, "", ""] : cutAround(text, at, given));
  });
  add("rpartition", { sep: REQUIRED }, (text, given, { meter }) => {
    meter.spendSearch(text, given.text("sep"));
    const at = text.lastIndexOf(separator(given) ?? "");
    return new Tuple(at < 0 ? ["", "", text] : cutAround(text, at, given));
  });
  add("startswith", { prefix: REQUIRED, ...WITHIN }, (text, given) =>
    alternatives(given, "prefix").some((prefix) => within(text, given).part.startsWith(prefix)),
  );
  add("endswith", { suffix: REQUIRED, ...WITHIN }, (text, given) =>
    alternatives(given, "suffix").some((suffix) => within(text, given).part.endsWith(suffix)),
  );
  add("find", { sub: REQUIRED, ...WITHIN }, (text, given, to) => find(text, given, "indexOf", to));
  add("rfind", { sub: REQUIRED, ...WITHIN }, (text, given, to) => find(text, given, "lastIndexOf", to));
  add("index", { sub: REQUIRED, ...WITHIN }, (text, given, to) => expectFound(find(text, given, "indexOf", to)));
  add("rindex", { sub: REQUIRED, ...WITHIN }, (text, given, to) => expectFound(find(text, given, "lastIndexOf", to)));
  add("count", { sub: REQUIRED, ...WITHIN }, (text, given, { meter }) => {
    const { part } = within(text, given);
    const sub = given.text("sub");
    meter.spendSearch(part, sub);
    return BigInt(sub === "" ? textLength(part) + 1 : part.split(sub).length - 1);
  });
  return table;
}

function paid(parts: string[], meter: Rendering["meter"]): string[] {
  meter.spend(parts.length);
  return parts;
}

function separator(given: Given): string | undefined {
  const text = given.optionalText("sep");
  if (text === "") throw wrong("empty separator");
  return text;
}

function cutAround(text: string, at: number, given: Given): string[] {
  const length = given.text("sep").length;
  return [text.slice(0, at), text.slice(at, at + length), text.slice(at + length)];
}

/** At most `maxsplit` cuts; without a separator runs of white space are one. */
function split(text: string, given: Given): string[] {
  const sep = separator(given);
  const most = given.size("maxsplit");
  const parts: string[] = [];
  let rest = sep === undefined ? stripStart(text) : text;
  if (sep === undefined && rest === "") return [];
  while (most < 0 || parts.length < most) {
    const at = sep === undefined ? findSpace(rest) : rest.indexOf(sep);
    if (at < 0) break;
    parts.push(rest.slice(0, at));
    rest = sep === undefined ? stripStart(rest.slice(at)) : rest.slice(at + sep.length);
  }
  return sep === undefined && rest === "" ? parts : [...parts, sep === undefined && most < 0 ? stripEnd(rest) : rest];
}

function splitFromEnd(text: string, given: Given): string[] {
  const sep = separator(given);
  const most = given.size("maxsplit");
  const parts: string[] = [];
  let rest = sep === undefined ? stripEnd(text) : text;
  if (sep === undefined && rest === "") return [];
  while (most < 0 || parts.length < most) {
    const at = sep === undefined ? lastSpace(rest) : rest.lastIndexOf(sep);
    if (at < 0) break;
    parts.push(rest.slice(at + (sep?.length ?? 1)));
    rest = sep === undefined ? stripEnd(rest.slice(0, at)) : rest.slice(0, at);
  }
  parts.reverse();
  return sep === undefined && rest === "" ? parts : [rest, ...parts];
}

function lastSpace(text: string): number {
  for (let at = text.length - 1; at >= 0; at -= 1) if (isSpace(text[at] ?? "")) return at;
  return -1;
}

function alternatives(given: Given, name: string): readonly string[] {
  const value = given.value(name);
  if (!(value instanceof Tuple)) return [given.text(name)];
  return value.items.map((item) => {
    if (isText(item)) return plain(item);
    throw wrong(`tuple for ${name} must only contain str, not ${typeName(item)}`);
  });
}

/** The part between `start` and `end`, which count from the end where they are negative. */
function within(text: string, given: Given): { readonly part: string; readonly start: number } {
  const start = given.optionalSize("start");
  const end = given.optionalSize("end");
  if (start === undefined && end === undefined) return { part: text, start: 0 };
  const length = textLength(text);
  const place = (at: number) => (at < 0 ? Math.max(0, at + length) : at);
  const from = place(start ?? 0);
  return { part: sliceText(text, from, Math.max(from, place(end ?? length))), start: from };
}

function find(text: string, given: Given, method: "indexOf" | "lastIndexOf", { meter }: Rendering): bigint {
  const { part, start } = within(text, given);
  meter.spendSearch(part, given.text("sub"));
  const at = part[method](given.text("sub"));
  return at < 0 ? -1n : BigInt(start + toPosition(part, at));
}

function expectFound(at: bigint): bigint {
  if (at < 0n) throw wrong("substring not found");
  return at;
}
