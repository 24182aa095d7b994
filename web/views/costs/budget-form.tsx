import { useState } from "react";
import { useCall, useDo } from "../../data/use-call.ts";
import type { ItemOf } from "../../data/use-list.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Choice, TextField } from "../../parts/fields.tsx";
import { Problem } from "../../parts/problem.tsx";

type Budget = ItemOf<"GET /budgets">;

const LIMITS = [
  ["cost_usd", "max_cost_usd", "US dollars"],
  ["tokens", "max_tokens", "Tokens, in and out"],
  ["steps", "max_steps", "Tries of steps"],
  ["seconds", "max_seconds", "Seconds that tries take, added up"],
] as const;

/** A budget is set or, for the same workflow, tenant and period, changed. */
export function BudgetForm({ budget, onClose }: { readonly budget?: Budget; readonly onClose: () => void }) {
  const set = useDo("POST /budgets");
  const { data: workflows } = useCall("GET /workflows", {});
  const [workflow, setWorkflow] = useState(budget?.workflow ?? "");
  const [tenant, setTenant] = useState(budget?.tenant_id ?? "");
  const [per, setPer] = useState<Budget["per"]>(budget?.per ?? "day");
  const [then, setThen] = useState<Budget["on_exceeded"]>(budget?.on_exceeded ?? "stop");
  const [webhook, setWebhook] = useState(budget?.webhook ?? "");
  const [limits, setLimits] = useState<Readonly<Record<string, string>>>(() => limitsOf(budget));
  const given = LIMITS.flatMap(([, name]) => (limits[name]?.trim() ? [[name, Number(limits[name])] as const] : []));
  const isWrong = given.some(([, amount]) => !(amount >= 0));
  const names = new Set([...(workflow === "" ? [] : [workflow]), ...(workflows?.items.map(({ name }) => name) ?? [])]);
  const send = () =>
    set.mutate(
      {
        ...(workflow === "" ? {} : { workflow }),
        ...(tenant.trim() === "" ? {} : { tenant_id: tenant.trim() }),
        ...(webhook.trim() === "" ? {} : { webhook: webhook.trim() }),
        per,
        on_exceeded: then,
        ...Object.fromEntries(given),
      },
      { onSuccess: onClose },
    );
  return (
    <Dialog
      title={budget === undefined ? "Set a budget" : "Change the budget"}
      onClose={onClose}
      actions={
        <Button kind="main" isBusy={set.isPending} disabled={given.length === 0 || isWrong} onClick={send}>
          Set it
        </Button>
      }
    >
      <div className="grid gap-3">
        <p className="text-soft">
          It binds runs that begin from now on. One is kept for each workflow, tenant and period: set again, it is
          changed.
        </p>
        {budget === undefined && (
          <div className="grid gap-3 sm:grid-cols-2">
            <Choice
              label="Of runs of"
              value={workflow}
              choices={[["", "every workflow"], ...[...names].map((name) => [name, name] as const)]}
              onPick={setWorkflow}
            />
            <TextField
              label="Of the tenant"
              placeholder="everybody"
              value={tenant}
              onChange={({ target }) => setTenant(target.value)}
            />
            <Choice
              label="Counted"
              value={per}
              choices={[
                ["day", "per day, in UTC"],
                ["total", "in all"],
              ]}
              onPick={(value) => setPer(value as Budget["per"])}
            />
          </div>
        )}
        <div className="grid gap-3 sm:grid-cols-2">
          {LIMITS.map(([, name, label]) => (
            <TextField
              key={name}
              label={`At most: ${label}`}
              inputMode="decimal"
              placeholder="no limit"
              value={limits[name] ?? ""}
              error={limits[name]?.trim() && !(Number(limits[name]) >= 0) ? "A number, 0 or more." : undefined}
              onChange={({ target }) => setLimits({ ...limits, [name]: target.value })}
            />
          ))}
        </div>
        <Choice
          label="When it is used up"
          value={then}
          choices={[
            ["stop", "runs stop"],
            ["ask", "a person is asked"],
          ]}
          onPick={(value) => setThen(value as Budget["on_exceeded"])}
        />
        <TextField
          label="Tell this URL when 80 % are used"
          type="url"
          placeholder="https://…"
          value={webhook}
          onChange={({ target }) => setWebhook(target.value)}
        />
        {set.error !== null && <Problem error={set.error} />}
      </div>
    </Dialog>
  );
}

/** As they were set: without what people have added since. */
function limitsOf(budget: Budget | undefined): Readonly<Record<string, string>> {
  const uses = budget?.uses ?? [];
  return Object.fromEntries(
    LIMITS.flatMap(([of, name]) => {
      const use = uses.find((each) => each.of === of);
      return use === undefined ? [] : [[name, String(use.limit - use.raised_by)]];
    }),
  );
}
