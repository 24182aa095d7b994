import type { ApiError, OutputOf } from "pawl/client";
import { useState } from "react";
import { useServer } from "../../data/server.tsx";
import { Button } from "../../parts/button.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { type FormSchema, SchemaForm } from "../../parts/schema-form.tsx";
import { toUsdText } from "../../parts/values.tsx";

type Plan = OutputOf<"POST /workflows/plan">;
type Planned = { readonly plan: Plan } | { readonly error: ApiError } | "asked";

interface PlanTableProps {
  /** The text as it stands in the editor. */
  readonly text: string;
  readonly schema: FormSchema | null;
}

/** What a run of the text would cost at worst, step by step. Nothing is run. */
export function PlanTable({ text, schema }: PlanTableProps) {
  const { client } = useServer();
  const [input, setInput] = useState<Readonly<Record<string, unknown>>>({});
  const [planned, setPlanned] = useState<Planned>();
  const ask = async () => {
    setPlanned("asked");
    try {
      setPlanned({ plan: await client.call("POST /workflows/plan", { workflow: text, input: input as never }) });
    } catch (error) {
      setPlanned({ error: error as ApiError });
    }
  };
  return (
    <div className="min-h-0 flex-1 overflow-auto p-3">
      <SchemaForm schema={schema} value={input} onChange={setInput} />
      <div className="my-3">
        <Button kind="main" isBusy={planned === "asked"} onClick={() => void ask()}>
          Plan
        </Button>
      </div>
      {planned === "asked" ? (
        <Loading what="the plan" />
      ) : planned === undefined ? (
        <p className="text-soft">What a run would cost at worst, by step. Nothing is run and no model is asked.</p>
      ) : "error" in planned ? (
        <Problem error={planned.error} />
      ) : (
        <Table plan={planned.plan} />
      )}
    </div>
  );
}

function Table({ plan: { steps, total, warnings } }: { readonly plan: Plan }) {
  return (
    <>
      <div className="overflow-x-auto">
        <table className="w-full text-left text-sm" aria-label="Plan">
          <thead>
            <tr className="text-xs text-soft">
              {["Step", "What", "Model", "Times", "Tries", "At worst"].map((name) => (
                <th key={name} className="pr-3 font-medium">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {steps.map(({ step, kind, executor, model, instances, attempts, cost }) => (
              <tr key={step} className="border-t border-line align-top">
                <td className="max-w-48 truncate py-1 pr-3 font-medium" title={step}>
                  {step}
                </td>
                <td className="pr-3 text-soft">{executor ?? kind}</td>
                <td className="pr-3">{model ?? "–"}</td>
                <td className="pr-3" title={instances.because}>
                  {instances.is === "at_most" ? "≤ " : ""}
                  {instances.count?.toLocaleString() ?? "?"}
                </td>
                <td className="pr-3">{attempts}</td>
                <td className="whitespace-nowrap" title={cost.because}>
                  {toCostText(cost.is, cost.usd)}
                </td>
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr className="border-t border-line font-semibold">
              <td colSpan={5} className="py-1">
                The whole run
              </td>
              <td className="whitespace-nowrap" title={total.because}>
                {total.at_most_usd === null ? toCostText(total.is, total.usd) : toUsdText(total.at_most_usd)}
              </td>
            </tr>
          </tfoot>
        </table>
      </div>
      {warnings.map((each) => (
        <p key={each} className="mt-2 whitespace-pre-wrap text-warn">
          {each}
        </p>
      ))}
    </>
  );
}

function toCostText(is: Plan["total"]["is"], usd: number | null): string {
  if (is === "none") return "nothing";
  if (usd !== null) return toUsdText(usd);
  return is === "unpriced" ? "price not known" : is === "unbounded" ? "no limit" : "nothing";
}
