import { writeExact } from "../../core/exact-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";

const DEEPEST_HEADING = 6;
const MOST_COLUMNS = 8;
const SHORT = 200;

/** An output as a text for people: a text as it is, objects as parts with headings, lists of flat objects as tables. */
export function toMarkdown(output: Json): string {
  return `${toPart(output, 2).trim()}\n`;
}

function toPart(value: Json, depth: number): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return toList(value, depth);
  if (isJsonObject(value)) return toSections(value, depth);
  return toShort(value);
}

function toList(list: readonly Json[], depth: number): string {
  if (list.every(isShort)) return list.map((entry) => `- ${toShort(entry)}`).join("\n");
  if (list.every(isJsonObject)) {
    const columns = [...new Set(list.flatMap((row) => Object.keys(row)))];
    const isFlat = list.every((row) => Object.values(row).every(isShort));
    if (isFlat && columns.length <= MOST_COLUMNS) return toTable(list, columns);
  }
  return list.map((entry, index) => section(`${index + 1}`, entry, depth)).join("\n\n");
}

function toSections(value: JsonObject, depth: number): string {
  const entries = Object.entries(value);
  const short = entries.filter(([, entry]) => isShort(entry));
  const long = entries.filter(([, entry]) => !isShort(entry));
  const facts = short.map(([name, entry]) => `- **${toLabel(name)}:** ${toShort(entry)}`).join("\n");
  const parts = long.map(([name, entry]) => section(toLabel(name), entry, depth));
  return [facts, ...parts].filter((part) => part !== "").join("\n\n");
}

function section(title: string, value: Json, depth: number): string {
  // Deeper than headings go, structure is shown as what it is.
  if (depth > DEEPEST_HEADING) return `${"```"}json\n${writeExact(value, 2)}\n${"```"}`;
  return `${"#".repeat(depth)} ${title}\n\n${toPart(value, depth + 1)}`;
}

function toTable(rows: readonly JsonObject[], columns: readonly string[]): string {
  const cells = rows.map((row) => columns.map((column) => (Object.hasOwn(row, column) ? toShort(row[column]) : "")));
  const lines = [columns.map(toLabel), columns.map(() => "---"), ...cells];
  return lines.map((line) => `| ${line.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`).join("\n");
}

/** Fits on a line, and is no structure. */
function isShort(value: Json): boolean {
  if (typeof value === "string") return value.length <= SHORT && !value.includes("\n");
  return value === null || typeof value !== "object";
}

function toShort(value: Json | undefined): string {
  return value === null || value === undefined ? "–" : String(value).replaceAll(/\s+/g, " ").trim();
}

function toLabel(name: string): string {
  const words = name.replaceAll(/[_\s-]+/g, " ").trim();
  return words === "" ? "–" : words.charAt(0).toUpperCase() + words.slice(1);
}
