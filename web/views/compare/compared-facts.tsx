import type { OutputOf } from "pawl/client";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { Status } from "../../parts/status.tsx";
import { toDuration, toUsdText } from "../../parts/values.tsx";

export type RunComparison = OutputOf<"GET /runs/compare">;

/** Status, cost and time of both, and by how much they differ. */
export function ComparedFacts({ comparison }: { readonly comparison: RunComparison }) {
  const { run_id, workflow_name: workflow, status, total_cost_usd: cost, duration_seconds: seconds } = comparison;
  const took = (value: number | null) => (value === null ? "–" : toDuration(value));
  const delta = seconds.a === null || seconds.b === null ? null : seconds.b - seconds.a;
  return (
    <table className="w-full max-w-3xl table-fixed text-left">
      <thead>
        <tr className="border-b border-line align-top">
          <th className="w-16 font-normal text-soft">run</th>
          {(["a", "b"] as const).map((side) => (
            <th key={side} className="py-1 pr-3 font-semibold">
              <span className="block truncate" title={workflow[side]}>
                {workflow[side]}
              </span>
              <Link
                href={`/runs/${run_id[side]}`}
                className="font-mono text-xs font-normal underline"
                title={run_id[side]}
              >
                {run_id[side].slice(0, 8)}…{run_id[side].slice(-4)}
              </Link>
            </th>
          ))}
          <th className="w-20 py-1 text-right font-normal text-soft">difference</th>
        </tr>
      </thead>
      <tbody className="tabular-nums">
        <Fact name="status" a={<Status status={status.a} />} b={<Status status={status.b} />} />
        <Fact
          name="cost"
          a={toUsdText(cost.a)}
          b={toUsdText(cost.b)}
          delta={cost.delta === 0 ? "none" : signed(cost.delta, toUsdText)}
        />
        <Fact
          name="took"
          a={took(seconds.a)}
          b={took(seconds.b)}
          delta={delta === null ? "–" : signed(delta, toDuration)}
        />
      </tbody>
    </table>
  );
}

interface FactProps {
  readonly name: string;
  readonly a: ReactNode;
  readonly b: ReactNode;
  readonly delta?: string;
}

function Fact({ name, a, b, delta = "" }: FactProps) {
  return (
    <tr className="border-b border-line/60">
      <th className="py-1 font-normal text-soft">{name}</th>
      <td className="truncate pr-3">{a}</td>
      <td className="truncate pr-3">{b}</td>
      <td className="whitespace-nowrap text-right">{delta}</td>
    </tr>
  );
}

export function signed(value: number, toText: (value: number) => string): string {
  return `${value < 0 ? "−" : "+"}${toText(Math.abs(value))}`;
}
