import { escapeHtml } from "../values/escape-html.ts";
import { toText } from "../values/print.ts";
import { Markup, type Rendering, type Value } from "../values/value.ts";
import { formatPercent } from "./percent-format.ts";

/** HTML stays HTML. */
export function keepKind(value: Value, text: string): Value {
  return value instanceof Markup ? new Markup(text) : text;
}

/** `value % values`, which escapes what is put into HTML. */
export function percent(value: Value, values: Value, { meter }: Rendering): Value {
  const escaped = (each: Value) => (each instanceof Markup ? each.text : escapeHtml(toText(each, meter)));
  const text = formatPercent(toText(value, meter), values, meter, value instanceof Markup ? escaped : toText);
  return keepKind(value, text);
}
