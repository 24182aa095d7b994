import { useState } from "react";
import { useCall, useDo } from "../../data/use-call.ts";
import type { ItemOf } from "../../data/use-list.ts";
import { Button } from "../../parts/button.tsx";
import { AskFirst } from "../../parts/dialog.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Id, toDuration, toUsdText } from "../../parts/values.tsx";
import { BudgetForm } from "./budget-form.tsx";

type Budget = ItemOf<"GET /budgets">;
type Use = Budget["uses"][number];

/** What runs may use together, and how much of it is used. */
export function Budgets() {
  const { data, error } = useCall(
    "GET /budgets",
    {},
    { when: ({ event }) => event.startsWith("budget.") || event === "limit.raised" || event === "run.finished" },
  );
  const [isSetting, setSetting] = useState(false);
  return (
    <section aria-labelledby="budgets" className="min-w-0">
      <div className="mb-2 flex items-center justify-between gap-2">
        <h2 id="budgets" className="text-base font-semibold">
          Budgets
        </h2>
        <Button onClick={() => setSetting(true)}>Set a budget</Button>
      </div>
      {error !== null && <Problem error={error} />}
      {data === undefined && error === null && <Loading what="the budgets" />}
      {data?.items.length === 0 && (
        <p className="text-soft">
          Nothing limits what runs may use together. A budget limits those of a workflow, of a tenant, or all.
        </p>
      )}
      <ul className="grid gap-2">
        {data?.items.map((budget) => (
          <BudgetCard key={budget.budget_id} budget={budget} />
        ))}
      </ul>
      {isSetting && <BudgetForm onClose={() => setSetting(false)} />}
    </section>
  );
}

function BudgetCard({ budget }: { readonly budget: Budget }) {
  const { budget_id: id, workflow, tenant_id: tenant, per, on_exceeded: then, unpriced, reserved } = budget;
  const remove = useDo("DELETE /budgets/{id}");
  const [open, setOpen] = useState<"change" | "remove">();
  const whose = `${workflow ?? "every workflow"}${tenant === null ? "" : ` of the tenant ${tenant}`}`;
  return (
    <li className="min-w-0 rounded border border-line bg-surface p-2.5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h3 className="min-w-0 break-words font-medium">{whose}</h3>
        <span className="text-soft">
          {per === "day" ? "per day, in UTC" : "in all"}; then {then === "ask" ? "a person is asked" : "runs stop"}
        </span>
        <Id id={id} />
        <span className="ml-auto flex gap-1">
          <Button kind="quiet" onClick={() => setOpen("change")}>
            Change
          </Button>
          <Button kind="quiet" onClick={() => setOpen("remove")}>
            Remove
          </Button>
        </span>
      </div>
      <ul className="mt-1.5 grid gap-x-5 gap-y-1.5 sm:grid-cols-2">
        {budget.uses.map((use) => (
          <UseBar key={use.of} use={use} />
        ))}
      </ul>
      {reserved.runs + reserved.waiting > 0 && (
        <p className="mt-1 text-xs text-soft">
          {toUsdText(reserved.usd)} reserved by {reserved.runs} runs; {reserved.waiting} wait
        </p>
      )}
      {unpriced && <p className="mt-1 text-xs text-warn">Something had no known price: the cost is a lower bound.</p>}
      {remove.error !== null && <Problem error={remove.error} />}
      {open === "change" && <BudgetForm budget={budget} onClose={() => setOpen(undefined)} />}
      {open === "remove" && (
        <AskFirst
          title={`Remove the budget of ${whose}?`}
          yes="Remove"
          onClose={() => setOpen(undefined)}
          onYes={() => {
            setOpen(undefined);
            remove.mutate({ id });
          }}
        >
          It limits nothing any more, and what was counted is forgotten.
        </AskFirst>
      )}
    </li>
  );
}

const BARS = { ok: "bg-accent", near: "bg-warn", used_up: "bg-bad" } as const;
const WORDS = { ok: "", near: "80 % are used", used_up: "used up" } as const;

function UseBar({ use: { of, used, limit, raised_by: raised, is } }: { readonly use: Use }) {
  const percent = limit === 0 ? 100 : Math.min(100, (used / limit) * 100);
  return (
    <li className="min-w-0">
      <div className="flex flex-wrap justify-between gap-x-2 text-xs">
        <span>
          {toText(of, used)} of {toText(of, limit)}
          {of === "tokens" || of === "steps" ? ` ${of}` : ""}
          {raised > 0 && <span className="text-soft"> ({toText(of, raised)} added by people)</span>}
        </span>
        <span className={is === "used_up" ? "text-bad" : "text-warn"}>{WORDS[is]}</span>
      </div>
      <div className="mt-0.5 h-2 overflow-hidden rounded-sm bg-raised" aria-hidden="true">
        <div className={`h-full ${BARS[is]}`} style={{ width: `${percent}%` }} />
      </div>
    </li>
  );
}

function toText(of: Use["of"], amount: number): string {
  if (of === "cost_usd") return toUsdText(amount);
  return of === "seconds" ? toDuration(amount) : amount.toLocaleString();
}
