import { type Apply, FunctionTable } from "../functions/builtin.ts";
import { stringMethods } from "../methods/string-methods.ts";
import { toNumeric } from "../values/compare.ts";
import { iterate, lengthOf } from "../values/iterate.ts";
import { toText } from "../values/print.ts";
import { splitLines } from "../values/text.ts";
import { isTrue } from "../values/truth.ts";
import { Stream, type Value } from "../values/value.ts";
import { htmlFilters } from "./html-filters.ts";
import { listFilters } from "./list-filters.ts";
import { numberFilters } from "./number-filters.ts";
import { selectFilters } from "./select-filters.ts";
import { textFilters } from "./text-filters.ts";

/** Filters that Jinja2 does not have, and MiniJinja does: prompts that were written for it go on to work. */
const moreFilters = new FunctionTable()
  .add("bool", {}, (value) => isTrue(value))
  .add("lines", {}, (value, _, { meter }) => splitLines(toText(value, meter)))
  .add("pluralize", { singular: "", plural: "s" }, (value, given) => {
    const count = toNumeric(value) ?? lengthOf(value);
    return given.value(Number(count) === 1 ? "singular" : "plural");
  })
  .addOpen("split", (value, args, rendering) => {
    const text = toText(value, rendering.meter);
    return stringMethods.get("split")?.(text, args, rendering) ?? [];
  })
  .addOpen("chain", (value, { positional }, { meter }) => {
    function* all(): Iterable<Value> {
      for (const part of [value, ...positional]) yield* iterate(part, meter);
    }
    return new Stream(all());
  }).functions;

/** What stands behind `|`. */
export const filters: ReadonlyMap<string, Apply> = new Map([
  ...textFilters,
  ...htmlFilters,
  ...numberFilters,
  ...listFilters,
  ...selectFilters,
  ...moreFilters,
]);
