import type { Meter } from "../meter.ts";
import { textLength } from "./text.ts";

/** Python's ways to change the case and the width of a text. */

export function capitalize(text: string): string {
  const [first = ""] = text;
  return first.toUpperCase() + text.slice(first.length).toLowerCase();
}

/** Every run of letters begins with a capital, that behind an apostrophe too. */
export function titleCase(text: string): string {
  return text.replace(/\p{L}+/gu, capitalize);
}

export function swapCase(text: string): string {
  return Array.from(text, (char) => (char === char.toUpperCase() ? char.toLowerCase() : char.toUpperCase())).join("");
}

export function padStart(text: string, width: number, fill: string, meter: Meter): string {
  return filling(text, width, fill, meter) + text;
}

export function padEnd(text: string, width: number, fill: string, meter: Meter): string {
  return text + filling(text, width, fill, meter);
}

function filling(text: string, width: number, fill: string, meter: Meter): string {
  const missing = Math.max(0, width - textLength(text));
  meter.spendText(missing);
  return fill.repeat(missing);
}

/** An odd place goes to the left where the width is odd, as in Python. */
export function center(text: string, width: number, fill: string, meter: Meter): string {
  const missing = Math.max(0, width - textLength(text));
  meter.spendText(missing);
  const left = Math.floor(missing / 2) + (missing & width & 1);
  return fill.repeat(left) + text + fill.repeat(missing - left);
}

/** Replaces the first `count` places, or all of them. */
export function replaceText(text: string, from: string, to: string, count: number, meter: Meter): string {
  meter.spendSearch(text, from);
  const parts = from === "" ? ["", ...text, ""] : text.split(from);
  const places = count < 0 ? parts.length - 1 : Math.min(count, parts.length - 1);
  meter.spend(parts.length);
  meter.spendText(text.length + places * to.length);
  const head = parts.slice(0, places);
  const rest = parts.slice(places).join(from);
  return head.length === 0 ? rest : `${head.join(to)}${to}${rest}`;
}
