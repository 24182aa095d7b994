import { useCall } from "../../data/use-call.ts";
import { useList } from "../../data/use-list.ts";
import { ListPane } from "../../parts/list-pane.tsx";
import { Empty } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { useRowKeys } from "../../parts/row-keys.ts";
import { wordsOf } from "../../parts/status.tsx";
import { TwoLineRow } from "../../parts/two-line-row.tsx";
import { Cost, Duration, Time } from "../../parts/values.tsx";

interface PickRunProps {
  /** The run that it is compared with; empty: none yet. */
  readonly other: string;
  readonly onPick: (id: string) => void;
}

/** The run to compare: any, or one of the same workflow as the other. */
export function PickRun({ other, onPick }: PickRunProps) {
  const { data: run, error } = useCall(
    "GET /runs/{id}",
    { id: other, steps: false, outputs: false, prompts: false },
    { enabled: other !== "" },
  );
  if (error !== null) {
    return (
      <div className="p-4">
        <Problem error={error} />
      </div>
    );
  }
  const workflow = other === "" ? undefined : run?.workflow_name;
  return (
    <>
      <p className="px-3 py-2 text-soft">
        {other === ""
          ? "Choose the first run."
          : `Choose the run of ${workflow ?? "the same workflow"} to compare ${other.slice(0, 8)}…${other.slice(-4)} with.`}
      </p>
      {(other === "" || run !== undefined) && (
        <Choices key={other} workflow={workflow} other={run?.run_id ?? ""} onPick={onPick} />
      )}
    </>
  );
}

function Choices({ workflow, other, onPick }: PickRunProps & { readonly workflow: string | undefined }) {
  const list = useList("GET /runs", workflow === undefined ? {} : { workflow });
  const items = list.items.filter(({ run_id }) => run_id !== other);
  const at = useRowKeys({
    count: items.length,
    onOpen: (index) => {
      const run = items[index];
      if (run !== undefined) onPick(run.run_id);
    },
  });
  return (
    <ListPane
      label="Runs to compare"
      list={{ ...list, items }}
      keyOf={({ run_id }) => run_id}
      at={at}
      height={52}
      empty={
        <Empty title="There is no other run to compare with.">
          {workflow === undefined ? "Start a workflow first." : `${workflow} has run once: do it again, or fork it.`}
        </Empty>
      }
      row={(run) => (
        <TwoLineRow
          sign={run.status}
          isPicked={false}
          onPick={() => onPick(run.run_id)}
          first={{
            left: run.workflow_name,
            title: run.workflow_name,
            right: <Time at={run.created_at} />,
          }}
          second={{
            left: `${run.run_id.slice(0, 8)}…${run.run_id.slice(-4)} ${run.error === null ? wordsOf(run.status) : run.error.message}`,
            title: run.error?.message ?? run.run_id,
            right: (
              <>
                <Duration from={run.started_at} to={run.completed_at} /> ·{" "}
                <Cost usd={run.total_cost_usd} atMost={run.cost_usd_at_most} />
              </>
            ),
          }}
        />
      )}
    />
  );
}
