import type { CostGroup, Costs } from "../../../operations/costs/sum-costs.ts";
import { formatUsd } from "./format-usd.ts";
import type { Paint } from "./paint.ts";
import { sanitize } from "./sanitize.ts";
import type { Segment } from "./segment.ts";
import { renderTable } from "./table.ts";

/** The table of `pawl costs`, with the sum below it. */
export function renderCosts(
  costs: Costs,
  { paint, width }: { readonly paint: Paint; readonly width?: number | undefined },
): string {
  if (costs.items.length === 0) return `No runs were started since ${costs.since}.`;
  const right = { align: "right" as const };
  const columns = [
    { title: costs.by.toUpperCase() },
    { title: "RUNS", ...right },
    { title: "COST", ...right },
    { title: "UNPRICED", ...right },
    { title: "TOKENS IN", ...right },
    { title: "TOKENS OUT", ...right },
  ];
  const rows = [...costs.items, { key: "total", ...costs.total }].map((group) => rowOf(group));
  const table = renderTable(columns, rows, { paint, width });
  const since = `Runs started since ${costs.counted_from ?? costs.since}`;
  const cut = costs.counted_from === null ? "" : "; there are more before. Narrow it with --since and --until";
  return `${table}\n${paint("dim", `${since}${cut}.`)}`;
}

function rowOf({ key, runs, cost_usd, unpriced_attempts, input_tokens, output_tokens }: CostGroup): Segment[] {
  return [
    { text: key === null ? "-" : sanitize(key) },
    { text: String(runs) },
    { text: formatUsd(cost_usd ?? 0, { unpriced: unpriced_attempts > 0 }) },
    { text: unpriced_attempts === 0 ? "" : String(unpriced_attempts) },
    { text: String(input_tokens) },
    { text: String(output_tokens) },
  ];
}
