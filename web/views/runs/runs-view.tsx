import { useCallback, useMemo, useRef, useState } from "react";
import { useLocation, useSearchParams } from "wouter";
import { toTime } from "../../data/ago.ts";
import { Button } from "../../parts/button.tsx";
import { useKeys } from "../../parts/keys.ts";
import { Empty, Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Rows } from "../../parts/rows.tsx";
import { StartRun } from "../../parts/start-run.tsx";
import { ViewBar } from "../../parts/view-bar.tsx";
import { BulkActions } from "./bulk-actions.tsx";
import { FirstPage } from "./first-page.tsx";
import { RunFilters } from "./run-filters.tsx";
import { RunRow, RunRowHead } from "./run-row.tsx";
import { type RunFilter, useRuns } from "./use-runs.ts";

/** All runs, newest first, with what is filtered in the address. */
export function RunsView() {
  const { filter, others, isFiltered } = useRunFilter();
  const { runs, error, isPending, more } = useRuns(filter);
  const [, go] = useLocation();
  const [at, setAt] = useState(-1);
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const [isStarting, setStarting] = useState(false);
  const search = useRef<HTMLDivElement>(null);
  const current = runs[at];
  const mark = useCallback(
    (id: string) =>
      setMarked((before) =>
        before.has(id) ? new Set([...before].filter((each) => each !== id)) : new Set([...before, id]),
      ),
    [],
  );
  useKeys({
    "/": () => search.current?.querySelector("input")?.focus(),
    j: () => setAt(Math.min(runs.length - 1, at + 1)),
    k: () => setAt(Math.max(0, at - 1)),
    Enter: () => current && go(`/runs/${current.run_id}`),
    x: () => current && mark(current.run_id),
    n: () => setStarting(true),
  });
  if (error !== null && runs.length === 0) {
    return (
      <div className="p-4">
        <Problem error={error} />
      </div>
    );
  }
  return (
    <>
      <ViewBar
        title="Runs"
        actions={
          <Button kind="main" hint="n" onClick={() => setStarting(true)}>
            Start a run
          </Button>
        }
      >
        <RunFilters searchRef={search} filter={others} />
      </ViewBar>
      {marked.size > 0 && <BulkActions ids={[...marked]} onDone={() => setMarked(new Set())} />}
      {isPending ? (
        <Loading what="the runs" />
      ) : runs.length === 0 && isFiltered ? (
        <Empty title="No run fits.">Take a filter away, or look at another time.</Empty>
      ) : runs.length === 0 ? (
        <FirstPage />
      ) : (
        <Rows
          label="Runs"
          items={runs}
          head={<RunRowHead />}
          keyOf={({ run_id }) => run_id}
          at={at}
          onEnd={more}
          row={(run) => <RunRow run={run} isMarked={marked.has(run.run_id)} onMark={mark} />}
        />
      )}
      {isStarting && <StartRun onClose={() => setStarting(false)} />}
    </>
  );
}

const FILTERS = ["status", "workflow", "dialect", "tenant", "q", "asking", "held", "not_driven"] as const;

/** As it stands in the address; `others` leaves the statuses out. */
function useRunFilter() {
  const [params] = useSearchParams();
  const written = params.toString();
  return useMemo(() => {
    const given = new URLSearchParams(written);
    const times = { since: toTime(given.get("since") ?? ""), until: toTime(given.get("until") ?? "") };
    const texts = Object.fromEntries(FILTERS.map((name) => [name, given.get(name) ?? ""]));
    const filter = Object.fromEntries(
      Object.entries({ ...texts, ...times }).filter(([, value]) => value !== ""),
    ) as RunFilter;
    const { status: _status, ...others } = filter;
    return { filter, others, isFiltered: Object.keys(filter).length > 0 };
  }, [written]);
}
