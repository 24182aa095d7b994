import { isJsonObject, isNumber, type Json, type JsonObject } from "../../../../core/json.ts";
import type { Paint } from "../text/paint.ts";
import { sanitize } from "../text/sanitize.ts";
import { type Column, renderTable } from "../text/table.ts";
import { type Segment, truncate } from "../text/text-width.ts";

const MAX_ROWS = 50;
const MAX_CELL_WIDTH = 60;

/**
 * The result of a run as a table: of the outputs that are lists of flat objects the last one, since steps stand in their
 * order. Undefined: none of them is such a list.
 */
export function renderOutputs(
  outputs: Json,
  options: { readonly paint: Paint; readonly width?: number | undefined },
): string | undefined {
  const lists: readonly Json[] = isJsonObject(outputs) ? Object.values(outputs) : [outputs];
  const rows = lists.findLast(isTable);
  if (rows === undefined) return undefined;
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const columns = names.map((name): Column => {
    const isNumeric = rows.every((row) => isNumber(row[name]));
    return { title: sanitize(name), ...(isNumeric ? { align: "right" } : {}) };
  });
  const cells = rows.slice(0, MAX_ROWS).map((row) => names.map((name): Segment => ({ text: toCell(row[name]) })));
  const rest = rows.length - cells.length;
  return [renderTable(columns, cells, options), ...(rest > 0 ? [`... and ${rest} more rows`] : [])].join("\n");
}

function isTable(value: Json): value is readonly JsonObject[] {
  return Array.isArray(value) && value.length > 0 && value.every(isFlat);
}

function isFlat(value: Json): value is JsonObject {
  return isJsonObject(value) && Object.keys(value).length > 0 && Object.values(value).every(isShort);
}

/** A single value, or a list of such. */
function isShort(value: Json): boolean {
  const items: readonly Json[] = Array.isArray(value) ? value : [value];
  return items.every((item) => typeof item !== "object" || item === null);
}

function toCell(value: Json | undefined): string {
  const items: readonly Json[] = Array.isArray(value) ? value : [value ?? ""];
  return truncate(sanitize(items.map(String).join(", ")), MAX_CELL_WIDTH);
}
