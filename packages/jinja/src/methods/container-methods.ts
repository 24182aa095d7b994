import { FunctionTable } from "../functions/builtin.ts";
import { REQUIRED } from "../functions/given.ts";
import { wrong } from "../template-error.ts";
import { equals } from "../values/compare.ts";
import { iterate, toList } from "../values/iterate.ts";
import { getItem, setItem, toKey } from "../values/keys.ts";
import { toRepr } from "../values/print.ts";
import { sortValues } from "../values/sort.ts";
import { Dict, DictView, type Rendering, Tuple, type Value } from "../values/value.ts";

/** The methods of lists, tuples and maps. What they change is the template's own copy. */
export const listMethods = new FunctionTable();
export const tupleMethods = new FunctionTable();
export const dictMethods = new FunctionTable();

function listOf(value: Value): Value[] {
  return Array.isArray(value) ? value : [];
}

function dictOf(value: Value): Dict {
  return value instanceof Dict ? value : new Dict();
}

/** Where a list is cut by an index, as `insert` and `pop` count. */
function place(length: number, index: number): number {
  return Math.min(length, index < 0 ? Math.max(0, index + length) : index);
}

listMethods
  .add("append", { object: REQUIRED }, (value, given) => {
    listOf(value).push(given.value("object"));
    return null;
  })
  .add("extend", { iterable: REQUIRED }, (value, given, { meter }) => {
    for (const item of toList(given.value("iterable"), meter)) listOf(value).push(item);
    return null;
  })
  .add("insert", { index: REQUIRED, object: REQUIRED }, (value, given, { meter }) => {
    const list = listOf(value);
    meter.spend(list.length / 64);
    list.splice(place(list.length, given.size("index")), 0, given.value("object"));
    return null;
  })
  .add("pop", { index: -1n }, (value, given, { meter }) => {
    const list = listOf(value);
    const index = given.size("index");
    const at = index < 0 ? index + list.length : index;
    meter.spend(list.length / 64);
    if (list.length === 0) throw wrong("pop from empty list");
    if (at < 0 || at >= list.length) throw wrong("pop index out of range");
    return list.splice(at, 1)[0] ?? null;
  })
  .add("remove", { value: REQUIRED }, (value, given, rendering) => {
    listOf(value).splice(indexOf(listOf(value), given.value("value"), rendering), 1);
    return null;
  })
  .add("reverse", {}, (value, _, { meter }) => {
    meter.spend(listOf(value).length);
    listOf(value).reverse();
    return null;
  })
  .add("sort", { reverse: false }, (value, given, { meter }) => {
    const sorted = sortValues(listOf(value), (item) => item, given.isTrue("reverse"), meter);
    for (const [index, item] of sorted.entries()) listOf(value)[index] = item;
    return null;
  })
  .add("clear", {}, (value) => {
    listOf(value).length = 0;
    return null;
  })
  .add("copy", {}, (value, _, { meter }) => toList(value, meter));

for (const [table, itemsOf] of [
  [listMethods, listOf],
  [tupleMethods, (value: Value) => (value instanceof Tuple ? value.items : [])],
] as const) {
  table
    .add("count", { value: REQUIRED }, (value, given, { meter }) =>
      BigInt(itemsOf(value).filter((item) => equals(item, given.value("value"), meter)).length),
    )
    .add("index", { value: REQUIRED }, (value, given, rendering) =>
      BigInt(indexOf(itemsOf(value), given.value("value"), rendering)),
    );
}

function indexOf(items: readonly Value[], wanted: Value, { meter }: Rendering): number {
  const index = items.findIndex((item) => equals(item, wanted, meter));
  if (index < 0) throw wrong(`${toRepr(wanted, meter).slice(0, 40)} is not in list`);
  return index;
}

for (const part of ["keys", "values", "items"] as const)
  dictMethods.add(part, {}, (value) => new DictView(dictOf(value), part));

dictMethods
  .add(
    "get",
    { key: REQUIRED, default: null },
    (value, given, { meter }) => getItem(dictOf(value), given.value("key"), meter) ?? given.value("default"),
  )
  .add("copy", {}, (value, _, { meter }) => copyDict(dictOf(value), meter))
  .add("clear", {}, (value) => {
    dictOf(value).entries.clear();
    return null;
  })
  .add("popitem", {}, (value, _, { meter }) => {
    const { entries } = dictOf(value);
    meter.spend(entries.size);
    const last = [...entries].at(-1);
    if (last === undefined) throw wrong("popitem(): dictionary is empty");
    entries.delete(last[0]);
    return new Tuple(last[1]);
  })
  .add("setdefault", { key: REQUIRED, default: null }, (value, given, { meter }) => {
    const found = getItem(dictOf(value), given.value("key"), meter);
    if (found === undefined) setItem(dictOf(value), given.value("key"), given.value("default"), meter);
    return found ?? given.value("default");
  })
  .add("fromkeys", { iterable: REQUIRED, value: null }, (_, given, { meter }) => {
    const dict = new Dict();
    for (const key of iterate(given.value("iterable"), meter)) setItem(dict, key, given.value("value"), meter);
    return dict;
  })
  .addOpen("pop", (value, { positional: [key, fallback] }, { meter }) => {
    if (key === undefined) throw wrong("pop expected at least 1 argument, got 0");
    const found = getItem(dictOf(value), key, meter) ?? fallback;
    if (found === undefined) throw wrong(`there is no key ${toRepr(key, meter).slice(0, 40)}`);
    dictOf(value).entries.delete(toKey(key, meter));
    return found;
  })
  .addOpen("update", (value, { positional, named }, { meter }) => {
    for (const source of positional) mergeInto(dictOf(value), source, meter);
    for (const [name, item] of named) dictOf(value).setText(name, item);
    return null;
  });

function copyDict(dict: Dict, meter: Rendering["meter"]): Dict {
  const copy = new Dict();
  mergeInto(copy, dict, meter);
  return copy;
}

/** From a map, or from pairs. */
export function mergeInto(dict: Dict, source: Value, meter: Rendering["meter"]): void {
  if (source instanceof Dict) {
    meter.spend(source.size);
    for (const [key, entry] of source.entries) dict.entries.set(key, entry);
    return;
  }
  for (const pair of iterate(source, meter)) {
    const [key, value, ...more] = toList(pair, meter);
    if (key === undefined || value === undefined || more.length > 0)
      throw wrong("a map is made of pairs of a key and a value");
    setItem(dict, key, value, meter);
  }
}
