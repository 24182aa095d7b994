import type { InputOf, OutputOf } from "pawl/client";
import { useMemo } from "react";
import { toTime } from "../../data/ago.ts";
import { useInAddress } from "../../data/use-address.ts";
import { useCall } from "../../data/use-call.ts";
import { Button } from "../../parts/button.tsx";
import { Choice, TextField } from "../../parts/fields.tsx";
import { Empty, Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { Cost, Time, toUsdText } from "../../parts/values.tsx";
import { ViewBar } from "../../parts/view-bar.tsx";
import { Budgets } from "./budgets.tsx";
import { CostTable } from "./cost-table.tsx";
import { DayChart } from "./day-chart.tsx";

type By = NonNullable<NonNullable<InputOf<"GET /costs">[0]>["by"]>;

/** What runs have cost, and the budgets that limit it. Sums are made of all histories: they are read again when they are asked for. */
export function CostsView() {
  const [by, setBy] = useInAddress("by", "workflow");
  const range = useRange();
  const sums = useCall("GET /costs", { by: by as By, ...range });
  const days = useCall("GET /costs", { by: "day", ...range });
  const error = sums.error ?? days.error;
  const isBusy = sums.isFetching || days.isFetching;
  return (
    <>
      <ViewBar
        title="Costs"
        actions={
          <>
            <span className="text-xs text-soft">
              {sums.dataUpdatedAt > 0 && (
                <>
                  as of <Time at={sums.dataUpdatedAt} />
                </>
              )}
            </span>
            <Button isBusy={isBusy} onClick={() => void Promise.all([sums.refetch(), days.refetch()])}>
              {isBusy ? "Reading …" : "Read again"}
            </Button>
          </>
        }
      >
        <RangeFields />
      </ViewBar>
      <div
        tabIndex={0}
        role="group"
        aria-label="Costs and budgets"
        className="grid min-h-0 flex-1 content-start gap-5 overflow-auto px-3 py-3"
      >
        {error !== null && <Problem error={error} />}
        {days.data !== undefined && <Total costs={days.data} />}
        {days.data !== undefined && days.data.items.length > 0 && <DayChart costs={days.data} />}
        <section className="min-w-0 rounded border border-line bg-surface">
          <Tabs
            label="Costs by"
            value={by}
            onPick={setBy}
            tabs={[
              ["workflow", "by workflow"],
              ["model", "by model"],
              ["day", "by day"],
              ["tenant", "by tenant"],
            ]}
          />
          {sums.data !== undefined && sums.data.items.length > 0 ? (
            <CostTable costs={sums.data} />
          ) : sums.isPending ? (
            <Loading what="the costs" />
          ) : (
            <Empty title="No run was started in this time.">Look at another time, or start a run.</Empty>
          )}
        </section>
        <Budgets />
      </div>
    </>
  );
}

function Total({ costs: { total, reserved, counted_from: from } }: { readonly costs: OutputOf<"GET /costs"> }) {
  return (
    <div>
      <p className="text-2xl font-semibold">
        <Cost usd={total.cost_usd} atMost={total.cost_usd_at_most} />
      </p>
      <p className="text-soft">
        {total.runs.toLocaleString()} runs, {total.input_tokens.toLocaleString()} tokens in,{" "}
        {total.output_tokens.toLocaleString()} out
        {total.unpriced_attempts > 0 && (
          <span className="text-warn">
            , {total.unpriced_attempts.toLocaleString()} attempts without a known price
            {total.cost_usd_at_most === null && ": nothing bounds what they cost"}
          </span>
        )}
      </p>
      {reserved !== undefined && reserved.runs + reserved.waiting > 0 && (
        <p className="text-soft">
          {toUsdText(reserved.usd)} reserved now by {reserved.runs} runs; {reserved.waiting} wait
        </p>
      )}
      {from !== null && (
        <p className="text-warn">
          There are too many runs to sum up at once: this is of those that started <Time at={from} /> or later.
        </p>
      )}
    </div>
  );
}

const USUAL = "month";

/** As it stands in the address; read once, so that a minute that passes asks for nothing. */
function useRange() {
  const [since] = useInAddress("since", USUAL);
  const [until] = useInAddress("until");
  return useMemo(() => ({ since: toTime(since), ...(until === "" ? {} : { until: toEnd(until) }) }), [since, until]);
}

/** A day is meant with its end. */
function toEnd(until: string): string {
  return /^\d{4}-\d\d-\d\d$/.test(until) ? new Date(Date.parse(until) + 86_400_000).toISOString() : until;
}

/** A time before now, or from one day to another. */
function RangeFields() {
  const [since, setSince] = useInAddress("since", USUAL);
  const [until, setUntil] = useInAddress("until");
  const isDated = /^\d/.test(since) || until !== "";
  return (
    <>
      <div className="w-40">
        <Choice
          label="Time"
          hidesLabel
          value={isDated ? "days" : since}
          choices={[
            ["day", "the last day"],
            ["week", "the last 7 days"],
            ["month", "the last 30 days"],
            ["quarter", "the last 90 days"],
            ["days", "from day to day"],
          ]}
          onPick={(picked) => {
            if (picked !== "days") setUntil("");
            setSince(picked === "days" ? toTime("week").slice(0, 10) : picked);
          }}
        />
      </div>
      {isDated && (
        <>
          <div className="w-36">
            <TextField
              label="From"
              hidesLabel
              type="date"
              value={since.slice(0, 10)}
              onChange={({ target }) => target.value !== "" && setSince(target.value)}
            />
          </div>
          <div className="w-36">
            <TextField
              label="To"
              hidesLabel
              type="date"
              value={until.slice(0, 10)}
              onChange={({ target }) => setUntil(target.value)}
            />
          </div>
        </>
      )}
    </>
  );
}
