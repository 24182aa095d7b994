import type { Meter } from "../meter.ts";
import { sortedEntries, textRepr, toSortedRepr } from "../values/print.ts";
import { splitLines } from "../values/text.ts";
import { Dict, Tuple, type Value } from "../values/value.ts";

const WIDTH = 80;

/** As Python's `pformat`: what does not fit into a line is put below one another. */
export function prettyPrint(value: Value, meter: Meter): string {
  return new PrettyPrinter(meter).print(value, { indent: 0, allowance: 0, level: 0 });
}

/** `allowance`: how many characters still follow in the last line. */
interface Room {
  readonly indent: number;
  readonly allowance: number;
  readonly level: number;
}

class PrettyPrinter {
  readonly #meter: Meter;

  constructor(meter: Meter) {
    this.#meter = meter;
  }

  print(value: Value, { indent, allowance, level }: Room): string {
    const short = toSortedRepr(value, this.#meter);
    if (short.length <= WIDTH - indent - allowance) return short;
    const inner = { indent: indent + 1, allowance: allowance + 1, level: level + 1 };
    if (value instanceof Dict) return `{${this.#entries(value, inner)}}`;
    if (Array.isArray(value)) return `[${this.#items(value, inner)}]`;
    if (value instanceof Tuple) {
      const end = value.items.length === 1 ? ",)" : ")";
      return `(${this.#items(value.items, { ...inner, allowance: allowance + end.length })}${end}`;
    }
    return typeof value === "string" ? this.#text(value, short, { indent, allowance, level: level + 1 }) : short;
  }

  #items(items: readonly Value[], room: Room): string {
    const isLast = (index: number) => index === items.length - 1;
    return items
      .map((item, index) => this.print(item, { ...room, allowance: isLast(index) ? room.allowance : 1 }))
      .join(`,\n${" ".repeat(room.indent)}`);
  }

  #entries(dict: Dict, room: Room): string {
    const entries = sortedEntries(dict, this.#meter);
    return entries
      .map(([key, item], index) => {
        const name = toSortedRepr(key, this.#meter);
        const allowance = index === entries.length - 1 ? room.allowance : 1;
        return `${name}: ${this.print(item, { ...room, indent: room.indent + name.length + 2, allowance })}`;
      })
      .join(`,\n${" ".repeat(room.indent)}`);
  }

  /** Several texts side by side, cut at line ends and behind spaces. */
  #text(text: string, short: string, { indent: around, allowance: behind, level }: Room): string {
    const isOutermost = level === 1;
    const indent = isOutermost ? around + 1 : around;
    const allowance = isOutermost ? behind + 1 : behind;
    const lines = splitLines(text, true);
    const chunks = lines.flatMap((line, index) => {
      const room = WIDTH - indent;
      const last = index === lines.length - 1;
      const whole = textRepr(line);
      return whole.length <= room - (last ? allowance : 0) ? [whole] : this.#cut(line, room, last ? allowance : 0);
    });
    if (chunks.length <= 1) return textRepr(lines.at(-1) ?? "") || short;
    const body = chunks.join(`\n${" ".repeat(indent)}`);
    return isOutermost ? `(${body})` : body;
  }

  #cut(line: string, room: number, allowance: number): string[] {
    const parts = line.match(/\S+\s*|\s+/g) ?? [];
    const chunks: string[] = [];
    let current = "";
    for (const [index, part] of parts.entries()) {
      const width = index === parts.length - 1 ? room - allowance : room;
      this.#meter.spendText(current.length + part.length);
      if (textRepr(current + part).length <= width) current += part;
      else {
        if (current !== "") chunks.push(textRepr(current));
        current = part;
      }
    }
    return current === "" ? chunks : [...chunks, textRepr(current)];
  }
}
