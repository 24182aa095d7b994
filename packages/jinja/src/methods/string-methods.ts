import { formatBraces } from "../formats/brace-format.ts";
import { FunctionTable } from "../functions/builtin.ts";
import { type Given, REQUIRED } from "../functions/given.ts";
import { wrong } from "../template-error.ts";
import { plain } from "../values/compare.ts";
import { iterate } from "../values/iterate.ts";
import { capitalize, center, padEnd, padStart, replaceText, swapCase, titleCase } from "../values/shape-text.ts";
import { stripEnd, stripStart, textLength } from "../values/text.ts";
import { Dict, isText, type Rendering, typeName, type Value } from "../values/value.ts";
import { addSearchMethods } from "./search-methods.ts";

type OnText = (text: string, given: Given, rendering: Rendering) => Value;

const table = new FunctionTable();

export const stringMethods = addSearchMethods(table).functions;

function add(name: string, parameters: Parameters<typeof table.add>[1], apply: OnText): void {
  table.add(name, parameters, (value, given, rendering) => apply(asText(value), given, rendering));
}

function asText(value: Value): string {
  return isText(value) ? plain(value) : "";
}

add("upper", {}, (text) => text.toUpperCase());
add("lower", {}, (text) => text.toLowerCase());
add("casefold", {}, (text) => text.toUpperCase().toLowerCase());
add("title", {}, (text, _, { meter }) => {
  meter.spendText(text.length * 6);
  return titleCase(text);
});
add("capitalize", {}, capitalize);
add("swapcase", {}, (text, _, { meter }) => {
  meter.spendText(text.length * 6);
  return swapCase(text);
});
for (const [name, strip] of [
  ["strip", (text, isStripped) => stripStart(stripEnd(text, isStripped), isStripped)],
  ["lstrip", stripStart],
  ["rstrip", stripEnd],
] as const satisfies readonly (readonly [string, typeof stripStart])[])
  add(name, { chars: null }, (text, given, rendering) => {
    rendering.meter.spendText(text.length * 4);
    return strip(text, toStripped(given, rendering));
  });
add("center", { width: REQUIRED, fillchar: " " }, (text, given, { meter }) =>
  center(text, given.size("width"), toFill(given), meter),
);
add("ljust", { width: REQUIRED, fillchar: " " }, (text, given, { meter }) =>
  padEnd(text, given.size("width"), toFill(given), meter),
);
add("rjust", { width: REQUIRED, fillchar: " " }, (text, given, { meter }) =>
  padStart(text, given.size("width"), toFill(given), meter),
);
add("zfill", { width: REQUIRED }, (text, given, { meter }) => {
  const [sign = ""] = /^[-+]/.exec(text) ?? [];
  return sign + padStart(text.slice(sign.length), given.size("width") - sign.length, "0", meter);
});
add("replace", { old: REQUIRED, new: REQUIRED, count: -1n }, (text, given, { meter }) =>
  replaceText(text, given.text("old"), given.text("new"), given.size("count"), meter),
);
add("removeprefix", { prefix: REQUIRED }, (text, given) =>
  text.startsWith(given.text("prefix")) ? text.slice(given.text("prefix").length) : text,
);
add("removesuffix", { suffix: REQUIRED }, (text, given) =>
  text.endsWith(given.text("suffix")) ? text.slice(0, text.length - given.text("suffix").length) : text,
);
add("expandtabs", { tabsize: 8n }, (text, given, { meter }) => {
  const size = given.size("tabsize");
  meter.spendText(text.length * Math.max(1, size));
  let column = 0;
  return Array.from(text, (char) => {
    const width = char === "\t" ? (size > 0 ? size - (column % size) : 0) : 1;
    column = char === "\n" || char === "\r" ? 0 : column + width;
    return char === "\t" ? " ".repeat(width) : char;
  }).join("");
});
add("join", { iterable: REQUIRED }, (text, given, { meter }) => {
  const parts = Array.from(iterate(given.value("iterable"), meter), (item, index) => {
    if (isText(item)) return plain(item);
    throw wrong(`sequence item ${index}: expected str instance, ${typeName(item)} found`);
  });
  meter.spendText(parts.reduce((sum, part) => sum + part.length + text.length, 0));
  return parts.join(text);
});
add("translate", { table: REQUIRED }, (text, given, { meter }) => {
  meter.spendText(text.length * 16);
  const map = given.value("table");
  if (!(map instanceof Dict)) return text;
  return Array.from(text, (char) => {
    const to = map.entries.get(BigInt(char.codePointAt(0) ?? 0))?.[1];
    if (to === undefined) return char;
    return typeof to === "bigint" ? String.fromCodePoint(Number(to)) : typeof to === "string" ? to : "";
  }).join("");
});
add("format_map", { mapping: REQUIRED }, (text, given, rendering) => {
  const map = given.value("mapping");
  if (map instanceof Dict) rendering.meter.spend(map.size);
  const named = new Map(map instanceof Dict ? map.names().map((name) => [name, map.getText(name) ?? null]) : []);
  return formatBraces(text, { positional: [], named }, rendering);
});
table.addOpen("format", (value, args, rendering) => formatBraces(asText(value), args, rendering));

const CHECKS: Readonly<Record<string, RegExp>> = {
  isalpha: /^\p{L}+$/u,
  isdigit: /^[\p{Nd}\u00b2\u00b3\u00b9\u2070-\u2079\u2080-\u2089]+$/u,
  isdecimal: /^\p{Nd}+$/u,
  isnumeric: /^\p{N}+$/u,
  isalnum: /^[\p{L}\p{N}]+$/u,
  isidentifier: /^[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}]*$/u,
  isascii: /^[\0-\x7f]*$/,
  isprintable: /^(?:[^\p{C}\p{Z}]| )*$/u,
};
for (const [name, pattern] of Object.entries(CHECKS)) add(name, {}, (text) => pattern.test(text));
add("isspace", {}, (text) => text !== "" && stripStart(text) === "");
add("islower", {}, (text) => isLower(text));
add("isupper", {}, (text) => isUpper(text));
add("istitle", {}, (text) => isLower(text.toLowerCase()) && titleCase(text) === text);

export function isLower(text: string): boolean {
  return text.toLowerCase() === text && text.toUpperCase() !== text;
}

export function isUpper(text: string): boolean {
  return text.toUpperCase() === text && text.toLowerCase() !== text;
}

function toStripped(given: Given, { meter }: Rendering): ((char: string) => boolean) | undefined {
  const chars = given.optionalText("chars");
  meter.spendText((chars?.length ?? 0) * 8);
  const stripped = new Set(chars);
  return chars === undefined ? undefined : (char) => stripped.has(char);
}

function toFill(given: Given): string {
  const fill = given.text("fillchar");
  if (textLength(fill) !== 1) throw wrong("The fill character must be exactly one character long");
  return fill;
}
