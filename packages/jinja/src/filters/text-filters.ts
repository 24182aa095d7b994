import { keepKind, percent } from "../formats/percent.ts";
import { FunctionTable } from "../functions/builtin.ts";
import { type Given, REQUIRED } from "../functions/given.ts";
import type { Meter } from "../meter.ts";
import { wrong } from "../template-error.ts";
import { plain } from "../values/compare.ts";
import { escapeHtml } from "../values/escape-html.ts";
import { toText } from "../values/print.ts";
import { capitalize, center, replaceText } from "../values/shape-text.ts";
import { sliceText, splitLines, stripEnd, stripStart, textLength } from "../values/text.ts";
import { Dict, isText, Markup, type Rendering, Tuple, typeName, Undefined, type Value } from "../values/value.ts";
import { wrapText } from "./wrap-text.ts";

/** The text of a value; HTML stays HTML. */
type OnText = (text: string, rendering: Rendering) => string;

const table = new FunctionTable();
export const textFilters = table.functions;

/** A filter that makes a text of any value first. */
function onText(change: OnText) {
  return (value: Value, _: unknown, rendering: Rendering): Value =>
    keepKind(value, change(toText(value, rendering.meter), rendering));
}

/** The text of a value that must be one already. */
function expectText(value: Value, filter: string): string {
  if (value instanceof Undefined) throw value.fault();
  if (!isText(value)) throw wrong(`${filter}() needs a text, not ${typeName(value)}`);
  return plain(value);
}

table
  .add(
    "upper",
    {},
    onText((text) => text.toUpperCase()),
  )
  .add(
    "lower",
    {},
    onText((text) => text.toLowerCase()),
  )
  .add("capitalize", {}, onText(capitalize))
  .add(
    "title",
    {},
    onText((text, { meter }) => toTitle(text, meter)),
  )
  .add("string", {}, (value, _, { meter }) => (value instanceof Markup ? value : toText(value, meter)))
  .add("trim", { chars: null }, (value, given, { meter }) => {
    const chars = given.optionalText("chars");
    meter.spendText((chars?.length ?? 0) * 8);
    const stripped = new Set(chars);
    const isStripped = chars === undefined ? undefined : (char: string) => stripped.has(char);
    const text = toText(value, meter);
    meter.spendText(text.length * 4);
    return keepKind(value, stripStart(stripEnd(text, isStripped), isStripped));
  })
  .add("center", { width: 80n }, (value, given, { meter }) =>
    keepKind(value, center(toText(value, meter), given.size("width"), " ", meter)),
  )
  .add("wordcount", {}, (value, _, { meter }) => BigInt(toText(value, meter).match(/[\p{L}\p{N}_]+/gu)?.length ?? 0))
  .add("replace", { s: REQUIRED, new: REQUIRED, count: null }, replace)
  .add("truncate", { length: 255n, killwords: false, end: "...", leeway: null }, (value, given) => {
    if (value instanceof Undefined && !value.isStrict) return value;
    const text = expectText(value, "truncate");
    const length = given.size("length");
    const end = given.text("end");
    const room = length - textLength(end);
    if (room < 0) throw wrong(`expected length >= ${textLength(end)}, got ${length}`);
    if (textLength(text) <= length + (given.optionalSize("leeway") ?? 5)) return value;
    const cut = sliceText(text, 0, room);
    const space = given.isTrue("killwords") ? -1 : cut.lastIndexOf(" ");
    return keepKind(value, (space < 0 ? cut : cut.slice(0, space)) + end);
  })
  .add("indent", { width: 4n, first: false, blank: false }, (value, given, { meter }) => {
    const width = given.value("width");
    const size = isText(width) ? 0 : given.size("width");
    meter.spendText(size);
    const indention = isText(width) ? plain(width) : " ".repeat(Math.max(0, size));
    const lines = splitLines(`${expectText(value, "indent")}\n`);
    meter.spend(lines.length);
    meter.spendText(lines.length * indention.length);
    const isIndented = (line: string, index: number) =>
      index === 0 ? given.isTrue("first") : line !== "" || given.isTrue("blank");
    return keepKind(value, lines.map((line, at) => (isIndented(line, at) ? indention + line : line)).join("\n"));
  })
  .add(
    "wordwrap",
    { width: 79n, break_long_words: true, wrapstring: null, break_on_hyphens: true },
    (value, given, { meter }) => {
      const options = {
        width: given.size("width"),
        breaksWords: given.isTrue("break_long_words"),
        breaksHyphens: given.isTrue("break_on_hyphens"),
      };
      const separator = given.optionalText("wrapstring") ?? "\n";
      const text = expectText(value, "wordwrap");
      meter.spendText(text.length * 4);
      const lines = splitLines(text).map((line) => wrapText(line, options, meter).join(separator));
      meter.spendText(lines.length * separator.length);
      return lines.join(separator);
    },
  )
  .addOpen("format", (value, { positional, named }, rendering) => {
    if (positional.length > 0 && named.size > 0)
      throw wrong("can't handle positional and keyword arguments at the same time");
    const values = named.size > 0 ? Dict.ofTexts(named) : new Tuple(positional);
    return percent(value, values, rendering);
  });

function toTitle(text: string, meter: Meter): string {
  meter.spendText(text.length * 6);
  return text
    .split(/([-\s({[<]+)/)
    .map(capitalize)
    .join("");
}

function replace(value: Value, given: Given, rendering: Rendering): Value {
  const { meter, autoescape } = rendering;
  const count = given.optionalSize("count") ?? -1;
  const [from, to] = [given.value("s"), given.value("new")];
  if (!autoescape) return replaceText(toText(value, meter), toText(from, meter), toText(to, meter), count, meter);
  const isHtml = value instanceof Markup || from instanceof Markup || to instanceof Markup;
  const escaped = (each: Value) =>
    each instanceof Markup || !isHtml ? toText(each, meter) : escapeHtml(toText(each, meter));
  const text = replaceText(escaped(value), escaped(from), escaped(to), count, meter);
  return isHtml ? new Markup(text) : text;
}
