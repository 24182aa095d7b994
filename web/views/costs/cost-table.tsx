import type { OutputOf } from "pawl/client";
import { Link } from "wouter";
import { Cost } from "../../parts/values.tsx";

type Costs = OutputOf<"GET /costs">;

const NOBODY = {
  workflow: "no workflow",
  model: "without a model, or one that nobody named",
  day: "no day",
  tenant: "without a tenant",
} as const;

/** The sums of a time, each with its part of the whole. */
export function CostTable({ costs: { by, items } }: { readonly costs: Costs }) {
  const most = Math.max(...items.map(({ cost_usd: usd }) => usd ?? 0));
  const shown = by === "day" ? items.toReversed() : items;
  return (
    <div tabIndex={0} role="group" aria-label="Sums" className="overflow-x-auto">
      <table className="w-full text-left" aria-label={`Costs by ${by}`}>
        <thead>
          <tr className="text-xs text-soft [&>th]:px-3 [&>th]:py-1 [&>th]:font-medium">
            <th>{by}</th>
            <th className="text-right">cost</th>
            <th className="max-sm:hidden">
              <span className="sr-only">beside the others</span>
            </th>
            <th className="text-right">runs</th>
            <th className="text-right">unpriced attempts</th>
            <th className="text-right">tokens in</th>
            <th className="text-right">tokens out</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((each) => (
            <tr key={each.key} className="border-t border-line/60 [&>td]:px-3 [&>td]:py-1">
              <td className="max-w-72 truncate" title={each.key ?? NOBODY[by]}>
                <Key by={by} name={each.key} />
              </td>
              <td className="text-right">
                <Cost usd={each.cost_usd} atMost={each.cost_usd_at_most} />
                {each.cost_usd_at_most === null && (
                  <span className="text-warn" title="Nothing bounds what some of its calls cost.">
                    {" "}
                    or more
                  </span>
                )}
              </td>
              <td className="w-1/4 max-sm:hidden">
                <div
                  aria-hidden="true"
                  className="h-2 rounded-sm bg-accent"
                  style={{ width: `${most === 0 ? 0 : ((each.cost_usd ?? 0) / most) * 100}%` }}
                />
              </td>
              <td className="text-right">{each.runs.toLocaleString()}</td>
              <td className={`text-right ${each.unpriced_attempts > 0 ? "text-warn" : "text-soft"}`}>
                {each.unpriced_attempts.toLocaleString()}
              </td>
              <td className="text-right">{each.input_tokens.toLocaleString()}</td>
              <td className="text-right">{each.output_tokens.toLocaleString()}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Key({ by, name }: { readonly by: Costs["by"]; readonly name: string | null }) {
  if (name === null) return <span className="text-soft">{NOBODY[by]}</span>;
  if (by !== "workflow") return name;
  return (
    <Link href={`/runs?workflow=${encodeURIComponent(name)}`} className="hover:underline">
      {name}
    </Link>
  );
}
