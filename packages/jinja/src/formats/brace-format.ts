import { wrong } from "../template-error.ts";
import { escapeChar, toRepr, toText } from "../values/print.ts";
import { type Arguments, type Rendering, Undefined, type Value } from "../values/value.ts";
import { formatValue } from "./format-spec.ts";

/** `"{} is {price:.2f}".format(...)`. */
export function formatBraces(template: string, given: Arguments, rendering: Rendering): string {
  return new BraceFormat(given, rendering).format(template, 2);
}

class BraceFormat {
  readonly #given: Arguments;
  readonly #rendering: Rendering;
  #next: number | "named" = 0;

  constructor(given: Arguments, rendering: Rendering) {
    this.#given = given;
    this.#rendering = rendering;
  }

  /** Specifications hold fields themselves, and no deeper. */
  format(template: string, depth: number): string {
    if (depth === 0) throw wrong("Max string recursion exceeded");
    const { meter } = this.#rendering;
    let result = "";
    for (let at = 0; at < template.length; ) {
      const brace = template.slice(at).search(/[{}]/);
      if (brace < 0) return result + template.slice(at);
      result += template.slice(at, at + brace);
      at += brace;
      if (template[at + 1] === template[at]) {
        result += template[at];
        at += 2;
        continue;
      }
      if (template[at] === "}") throw wrong("Single '}' encountered in format string");
      const end = endOfField(template, at);
      const text = this.#field(template.slice(at + 1, end), depth);
      meter.spendText(text.length + (end - at));
      result += text;
      at = end + 1;
    }
    return result;
  }

  #field(field: string, depth: number): string {
    const { meter } = this.#rendering;
    const [, path = "", conversion, spec = ""] = /^((?:\[[^\]]*\]|[^[:!])*)(?:!([^:]*))?(?::(.*))?$/s.exec(field) ?? [];
    const value = this.#value(path);
    const readSpec = spec.includes("{") ? this.format(spec, depth - 1) : spec;
    switch (conversion) {
      case undefined:
        return formatValue(value, readSpec, meter);
      case "s":
        return formatValue(toText(value, meter), readSpec, meter);
      case "r":
        return formatValue(toRepr(value, meter), readSpec, meter);
      case "a":
        return formatValue(toRepr(value, meter).replace(/[^\0-\x7f]/gu, escapeChar), readSpec, meter);
      default:
        throw wrong(`Unknown conversion specifier '${conversion}'`);
    }
  }

  #value(path: string): Value {
    const [name = ""] = /^[^.[]*/.exec(path) ?? [];
    let value = this.#first(name);
    for (const [, attribute, item] of path.slice(name.length).matchAll(/\.([^.[]+)|\[([^\]]+)\]/g))
      value = this.#member(value, attribute ?? item ?? "", item !== undefined);
    return value;
  }

  #member(value: Value, name: string, isItem: boolean): Value {
    const key = isItem && /^\d+$/.test(name) ? BigInt(name) : name;
    const member = this.#rendering.lookUp(value, key, isItem ? "item" : "attribute");
    if (member instanceof Undefined) throw member.fault();
    return member;
  }

  #first(name: string): Value {
    if (name !== "" && !/^\d+$/.test(name)) {
      const value = this.#given.named.get(name);
      if (value === undefined) throw wrong(`there is no value for \`{${name}}\``);
      return value;
    }
    const isMixed = name === "" ? this.#next === "named" : typeof this.#next === "number" && this.#next > 0;
    if (isMixed) throw wrong("numbered and automatic fields cannot be mixed");
    const index = name === "" ? Number(this.#next) : Number(name);
    this.#next = name === "" ? index + 1 : "named";
    const value = this.#given.positional[index];
    if (value === undefined) throw wrong(`Replacement index ${index} out of range for positional args tuple`);
    return value;
  }
}

function endOfField(template: string, start: number): number {
  let depth = 0;
  for (let at = start; at < template.length; at += 1) {
    if (template[at] === "{") depth += 1;
    else if (template[at] === "}") depth -= 1;
    if (depth === 0) return at;
  }
  throw wrong(
    template.length === start + 1 ? "Single '{' encountered in format string" : "expected '}' before end of string",
  );
}
