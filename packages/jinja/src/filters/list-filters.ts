import { FunctionTable } from "../functions/builtin.ts";
import { type Given, REQUIRED } from "../functions/given.ts";
import { attributeOf } from "../methods/look-up.ts";
import { wrong } from "../template-error.ts";
import { compare, equals, plain } from "../values/compare.ts";
import { iterate, lengthOf, toList } from "../values/iterate.ts";
import { toKey } from "../values/keys.ts";
import { operate } from "../values/operate.ts";
import { toText } from "../values/print.ts";
import { sortValues } from "../values/sort.ts";
import { textLength } from "../values/text.ts";
import { isTrue } from "../values/truth.ts";
import {
  Dict,
  DictView,
  isText,
  type Key,
  Markup,
  type Rendering,
  Stream,
  Tuple,
  typeName,
  Undefined,
  type Value,
} from "../values/value.ts";
import { attributeGetter, attributesGetter, caseless } from "./attribute-getter.ts";
import { toHtml } from "./html-filters.ts";
import { prettyPrint } from "./pretty-print.ts";

const table = new FunctionTable();
export const listFilters = table.functions;

const COMPARED = { case_sensitive: false, attribute: null };

for (const name of ["length", "count"]) table.add(name, {}, (value) => measure(value));
for (const name of ["default", "d"])
  table.add(name, { default_value: "", boolean: false }, (value, given) => {
    const isMissing = value instanceof Undefined || (given.isTrue("boolean") && !isTrue(value));
    return isMissing ? given.value("default_value") : value;
  });

table
  .add("list", {}, (value, _, { meter }) => toList(value, meter))
  .add("first", {}, (value, _, rendering) => {
    for (const item of iterate(value, rendering.meter)) return item;
    return rendering.missing("No first item, sequence was empty.");
  })
  .add("last", {}, (value, _, rendering) => {
    if (value instanceof Stream) throw wrong("'generator' object is not reversible");
    return toList(value, rendering.meter).at(-1) ?? rendering.missing("No last item, sequence was empty.");
  })
  .add("random", {}, (value, _, rendering) => {
    const items = toList(value, rendering.meter);
    return (
      items[Math.floor(rendering.random() * items.length)] ?? rendering.missing("No random item, sequence was empty.")
    );
  })
  .add("reverse", {}, (value, _, { meter }) => {
    if (isText(value)) {
      meter.spendText(plain(value).length * 4);
      return Array.from(plain(value)).reverse().join("");
    }
    const items = toList(value, meter).reverse();
    return value instanceof Stream ? items : new Stream(items);
  })
  .add("items", {}, (value) => {
    if (value instanceof Undefined) return new Stream([]);
    if (!(value instanceof Dict)) throw wrong("Can only get item pairs from a mapping.");
    return new DictView(value, "items");
  })
  .add("join", { d: "", attribute: null }, (value, given, rendering) => {
    const get = attributeGetter(given.value("attribute"), rendering);
    const items = Array.from(iterate(value, rendering.meter), get);
    return joinItems(items, given.value("d"), rendering);
  })
  .add("sum", { attribute: null, start: 0n }, (value, given, rendering) => {
    if (isText(given.value("start"))) throw wrong("sum() can't sum strings [use ''.join(seq) instead]");
    const get = attributeGetter(given.value("attribute"), rendering);
    let sum = given.value("start");
    for (const item of iterate(value, rendering.meter)) sum = operate("+", sum, get(item), rendering);
    return sum;
  })
  .add("min", COMPARED, (value, given, rendering) => pickBest(value, given, rendering, "<"))
  .add("max", COMPARED, (value, given, rendering) => pickBest(value, given, rendering, ">"))
  .add("sort", { reverse: false, ...COMPARED }, (value, given, rendering) => {
    const key = attributesGetter(given.value("attribute"), rendering, given.isTrue("case_sensitive"));
    return sortValues(toList(value, rendering.meter), key, given.isTrue("reverse"), rendering.meter);
  })
  .add("dictsort", { case_sensitive: false, by: "key", reverse: false }, (value, given, { meter }) => {
    const by = given.text("by");
    if (by !== "key" && by !== "value") throw wrong('You can only sort by either "key" or "value"');
    if (value instanceof Undefined) throw value.fault();
    if (!(value instanceof Dict)) throw wrong(`'${typeName(value)}' object has no attribute 'items'`);
    const pick = (item: Value) => (item instanceof Tuple ? (item.items[by === "key" ? 0 : 1] ?? null) : null);
    const items = toList(new DictView(value, "items"), meter);
    return sortValues(items, caseless(pick, given.isTrue("case_sensitive")), given.isTrue("reverse"), meter);
  })
  .add("unique", COMPARED, (value, given, rendering) => new Stream(distinct(value, given, rendering)))
  .add("groupby", { attribute: REQUIRED, default: null, case_sensitive: false }, groupBy)
  .add(
    "batch",
    { linecount: REQUIRED, fill_with: null },
    (value, given, rendering) => new Stream(batches(value, given, rendering)),
  )
  .add(
    "slice",
    { slices: REQUIRED, fill_with: null },
    (value, given, rendering) => new Stream(slices(value, given, rendering)),
  )
  .add("attr", { name: REQUIRED }, (value, given, rendering) => {
    const name = given.text("name");
    if (value instanceof Undefined) throw value.fault();
    return attributeOf(value, name) ?? rendering.missing(`'${typeName(value)}' object has no attribute '${name}'`);
  })
  .add("pprint", {}, (value, _, { meter }) => prettyPrint(value, meter));

function measure(value: Value): bigint {
  if (isText(value)) return BigInt(textLength(plain(value)));
  if (value instanceof Undefined) value.assertLenient();
  const length = value instanceof Undefined ? 0n : lengthOf(value);
  if (length === undefined) throw wrong(`object of type '${typeName(value)}' has no len()`);
  return length;
}

/** Plain text, unless HTML is written: then one part that is HTML makes the whole so. */
function joinItems(items: readonly Value[], separator: Value, rendering: Rendering): Value {
  const { meter, autoescape } = rendering;
  const isHtml = autoescape && [separator, ...items].some((item) => item instanceof Markup);
  const write = (item: Value) => (isHtml ? toHtml(item, rendering) : toText(item, meter));
  const between = write(separator);
  const parts = items.map(write);
  meter.spendText(parts.reduce((sum, part) => sum + part.length + between.length, 0));
  return isHtml ? new Markup(parts.join(between)) : parts.join(between);
}

function pickBest(value: Value, given: Given, rendering: Rendering, operator: "<" | ">"): Value {
  const key = caseless(attributeGetter(given.value("attribute"), rendering), given.isTrue("case_sensitive"));
  let best: { readonly item: Value; readonly key: Value } | undefined;
  for (const item of iterate(value, rendering.meter)) {
    const rank = key(item);
    if (best === undefined || compare(rank, best.key, operator, rendering.meter)) best = { item, key: rank };
  }
  return best?.item ?? (best === undefined ? rendering.missing("No aggregated item, sequence was empty.") : null);
}

function* distinct(value: Value, given: Given, rendering: Rendering): Iterable<Value> {
  const key = caseless(attributeGetter(given.value("attribute"), rendering), given.isTrue("case_sensitive"));
  const seen = new Set<Key>();
  for (const item of iterate(value, rendering.meter)) {
    const id = toKey(key(item), rendering.meter);
    if (seen.has(id)) continue;
    seen.add(id);
    yield item;
  }
}

/** Groups have a name, that of their first item, and a list. */
function groupBy(value: Value, given: Given, rendering: Rendering): Value {
  const { meter } = rendering;
  const get = attributeGetter(given.value("attribute"), rendering, given.value("default"));
  const key = caseless(get, given.isTrue("case_sensitive"));
  const groups: { readonly key: Value; readonly items: Value[] }[] = [];
  for (const item of sortValues(toList(value, meter), key, false, meter)) {
    const last = groups.at(-1);
    const itemKey = key(item);
    if (last !== undefined && equals(last.key, itemKey, meter)) last.items.push(item);
    else groups.push({ key: itemKey, items: [item] });
  }
  return groups.map(({ items }) => new Tuple([get(items[0] ?? null), items], ["grouper", "list"]));
}

function* batches(value: Value, given: Given, { meter }: Rendering): Iterable<Value> {
  const size = given.size("linecount");
  const fill = given.value("fill_with");
  let batch: Value[] = [];
  for (const item of iterate(value, meter)) {
    if (batch.length === size) {
      yield batch;
      batch = [];
    }
    batch.push(item);
  }
  if (batch.length === 0) return;
  if (fill !== null) {
    meter.spend(Math.max(0, size - batch.length));
    while (batch.length < size) batch.push(fill);
  }
  yield batch;
}

function* slices(value: Value, given: Given, { meter }: Rendering): Iterable<Value> {
  const items = toList(value, meter);
  const count = given.size("slices");
  const fill = given.value("fill_with");
  if (count === 0) throw wrong("integer division or modulo by zero");
  const size = Math.floor(items.length / count);
  const longer = items.length % count;
  for (let index = 0; index < count; index += 1) {
    meter.spend();
    const start = index * size + Math.min(index, longer);
    const slice = items.slice(start, start + size + (index < longer ? 1 : 0));
    if (fill !== null && index >= longer) slice.push(fill);
    yield slice;
  }
}
