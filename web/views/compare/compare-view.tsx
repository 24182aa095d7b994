import { useSearchParams } from "wouter";
import { useCall } from "../../data/use-call.ts";
import { Button } from "../../parts/button.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { ViewBar } from "../../parts/view-bar.tsx";
import { Changes } from "./changes.tsx";
import { ComparedFacts } from "./compared-facts.tsx";
import { ComparedSteps } from "./compared-steps.tsx";
import { PickRun } from "./pick-run.tsx";

/** Two runs and what differs between them. One that the address does not name is picked from a list. */
export function CompareView() {
  const [params, setParams] = useSearchParams();
  const [a, b] = [params.get("a") ?? "", params.get("b") ?? ""];
  const set = (next: { readonly a: string; readonly b: string }) =>
    setParams(Object.entries(next).filter(([, id]) => id !== ""));
  return (
    <>
      <ViewBar
        title="Compare two runs"
        actions={
          a !== "" &&
          b !== "" && (
            <>
              <Button onClick={() => set({ a: b, b: a })}>Swap</Button>
              <Button onClick={() => set({ a, b: "" })}>Another run</Button>
            </>
          )
        }
      />
      {a === "" || b === "" ? (
        <PickRun other={a === "" ? b : a} onPick={(id) => set(a === "" ? { a: id, b } : { a, b: id })} />
      ) : (
        <Comparison key={`${a} ${b}`} a={a} b={b} />
      )}
    </>
  );
}

function Comparison({ a, b }: { readonly a: string; readonly b: string }) {
  const { data, error } = useCall(
    "GET /runs/compare",
    { a, b },
    { when: ({ event, data: { run_id } }) => event === "run.finished" && (run_id === a || run_id === b) },
  );
  if (data === undefined) {
    if (error === null) return <Loading what="both runs" />;
    return (
      <div className="p-4">
        <Problem error={error} />
      </div>
    );
  }
  return (
    <div tabIndex={0} role="group" aria-label="What differs" className="min-h-0 flex-1 overflow-auto p-3">
      <ComparedFacts comparison={data} />
      <Changes comparison={data} />
      <ComparedSteps comparison={data} />
    </div>
  );
}
