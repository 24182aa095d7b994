import type { CostGroup, Costs } from "../../../../operations/costs/sum-costs.ts";
import type { PageOptions } from "../text/page-options.ts";
import { renderList } from "./render-list.ts";

/** The table of `pawl costs`, with the sum below it. */
export function renderCosts(costs: Costs, options: PageOptions): string {
  if (costs.items.length === 0) return `No runs were started since ${costs.since}.`;
  const table = {
    empty: "",
    right: ["RUNS", "COST", "UNPRICED", "TOKENS IN", "TOKENS OUT"],
    columns: ({ key, runs, cost_usd, unpriced_attempts: unpriced, input_tokens, output_tokens }: CostGroup) => ({
      [costs.by.toUpperCase()]: key ?? "-",
      RUNS: runs,
      COST: { usd: cost_usd ?? 0, unpriced: unpriced > 0 },
      UNPRICED: unpriced === 0 ? "" : unpriced,
      "TOKENS IN": input_tokens,
      "TOKENS OUT": output_tokens,
    }),
  };
  const rows = renderList(table, [...costs.items, { key: "total", ...costs.total }], options);
  const since = `Runs started since ${costs.counted_from ?? costs.since}`;
  const cut = costs.counted_from === null ? "" : "; there are more before. Narrow it with --since and --until";
  return `${rows}\n${options.paint("dim", `${since}${cut}.`)}`;
}
