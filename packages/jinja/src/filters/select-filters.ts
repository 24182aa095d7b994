import { FunctionTable } from "../functions/builtin.ts";
import { wrong } from "../template-error.ts";
import { plain } from "../values/compare.ts";
import { iterate } from "../values/iterate.ts";
import { isTrue } from "../values/truth.ts";
import { type Arguments, isText, type Rendering, Stream, type Value } from "../values/value.ts";
import { attributeGetter } from "./attribute-getter.ts";

const table = new FunctionTable();
/** Filters that apply another filter, or a test, to each item. */
export const selectFilters = table.functions;

table.addOpen("map", (value, args, rendering) => new Stream(mapped(value, args, rendering)));
for (const [name, isKept, hasAttribute] of [
  ["select", true, false],
  ["reject", false, false],
  ["selectattr", true, true],
  ["rejectattr", false, true],
] as const) {
  table.addOpen(
    name,
    (value, args, rendering) => new Stream(selected(value, chooser(args, hasAttribute, rendering), isKept, rendering)),
  );
}

function* mapped(value: Value, args: Arguments, rendering: Rendering): Iterable<Value> {
  if (!isTrue(value)) return;
  const change = mapper(args, rendering);
  for (const item of iterate(value, rendering.meter)) yield change(item);
}

function mapper({ positional, named }: Arguments, rendering: Rendering): (item: Value) => Value {
  const attribute = named.get("attribute");
  if (positional.length === 0 && attribute !== undefined) {
    const other = [...named.keys()].find((name) => name !== "attribute" && name !== "default");
    if (other !== undefined) throw wrong(`Unexpected keyword argument '${other}'`);
    return attributeGetter(attribute, rendering, named.get("default"));
  }
  const [name, ...more] = positional;
  if (name === undefined) throw wrong("map requires a filter argument");
  return (item) => rendering.filter(nameOf(name), item, { positional: more, named });
}

/** Decides lazily: what is wrong with the arguments is said when the first item is asked for. */
function chooser(
  { positional, named }: Arguments,
  hasAttribute: boolean,
  rendering: Rendering,
): () => (item: Value) => boolean {
  return () => {
    const [attribute, ...rest] = hasAttribute ? positional : [null, ...positional];
    if (attribute === undefined) throw wrong("Missing parameter for attribute name");
    const get = attributeGetter(attribute, rendering);
    const [name, ...more] = rest;
    if (name === undefined) return (item) => isTrue(get(item));
    return (item) => rendering.test(nameOf(name), get(item), { positional: more, named });
  };
}

function* selected(
  value: Value,
  choose: () => (item: Value) => boolean,
  isKept: boolean,
  rendering: Rendering,
): Iterable<Value> {
  if (!isTrue(value)) return;
  const isChosen = choose();
  for (const item of iterate(value, rendering.meter)) if (isChosen(item) === isKept) yield item;
}

function nameOf(value: Value): string {
  if (!isText(value)) throw wrong("the name of a filter or a test is a text");
  return plain(value);
}
