import type { FeedEvent, InputOf } from "pawl/client";
import { useMemo } from "react";
import { useInAddress } from "../../data/use-address.ts";
import { type ItemOf, useList } from "../../data/use-list.ts";
import { Choice } from "../../parts/fields.tsx";
import { ListAndDetail } from "../../parts/list-and-detail.tsx";
import { ListPane } from "../../parts/list-pane.tsx";
import { Empty } from "../../parts/loading.tsx";
import { useRowKeys } from "../../parts/row-keys.ts";
import { TwoLineRow } from "../../parts/two-line-row.tsx";
import { Time } from "../../parts/values.tsx";
import { ViewBar } from "../../parts/view-bar.tsx";
import { WorkflowChoice } from "../../parts/workflow-choice.tsx";
import { DeadLetterDetail, signOf } from "./dead-letter-detail.tsx";

type Letter = ItemOf<"GET /dead-letter">;
type Filter = Pick<NonNullable<InputOf<"GET /dead-letter">[0]>, "status" | "workflow">;

/** Failures, steps that are held, and what takes either away. */
const changesLetters = ({ event }: FeedEvent) =>
  event === "run.finished" || event === "step.held" || event === "run.resumed" || event === "run.started";

/** Steps that have failed for good or are held, and what was done about them. */
export function DeadLettersView() {
  const [status, setStatus] = useInAddress("status", "open");
  const [workflow, setWorkflow] = useInAddress("workflow");
  const [id, setId] = useInAddress("id");
  const filter = useMemo((): Filter => {
    const isAny = status === "any";
    return { ...(isAny ? {} : { status: status as Filter["status"] }), ...(workflow === "" ? {} : { workflow }) };
  }, [status, workflow]);
  const list = useList("GET /dead-letter", filter, { when: changesLetters });
  const { items } = list;
  const at = useRowKeys({
    count: items.length,
    onOpen: (index) => setId(items[index]?.dead_letter_id ?? ""),
    onClose: () => setId(""),
  });
  const isUsual = status === "open" && workflow === "";
  return (
    <>
      <ViewBar title="Dead letters">
        <div className="w-40">
          <Choice
            label="What was done"
            hidesLabel
            value={status}
            choices={[
              ["open", "open"],
              ["retried", "retried"],
              ["resolved", "resolved"],
              ["any", "open, retried, resolved"],
            ]}
            onPick={setStatus}
          />
        </div>
        <WorkflowChoice value={workflow} onPick={setWorkflow} />
      </ViewBar>
      <ListAndDetail
        title={id.slice(id.indexOf(":") + 1)}
        onClose={() => setId("")}
        {...(id !== "" && { detail: <DeadLetterDetail key={id} id={id} /> })}
        list={
          <ListPane
            label="Dead letters"
            list={list}
            height={52}
            at={at}
            keyOf={({ dead_letter_id }) => dead_letter_id}
            row={(each) => <LetterRow letter={each} isPicked={each.dead_letter_id === id} onPick={setId} />}
            empty={
              isUsual ? (
                <Empty title="Nothing has failed for good.">
                  Steps that have failed stand here until somebody retries or resolves them, where their workflow keeps
                  them (<code className="font-mono text-xs">on_failure: {"{dead_letter: true}"}</code>). Steps that are
                  held, because processes died of them, stand here too.
                </Empty>
              ) : (
                <Empty title="No dead letter fits.">Take a filter away.</Empty>
              )
            }
          />
        }
      />
    </>
  );
}

interface LetterRowProps {
  readonly letter: Letter;
  readonly isPicked: boolean;
  readonly onPick: (id: string) => void;
}

function LetterRow({ letter, isPicked, onPick }: LetterRowProps) {
  const { dead_letter_id: id, workflow_name: workflow, path, code, message, failed_at: at, status, held } = letter;
  return (
    <TwoLineRow
      sign={signOf(letter)}
      isPicked={isPicked}
      onPick={() => onPick(id)}
      first={{
        title: `${path} of ${workflow}`,
        left: (
          <>
            <span className="font-medium">{path}</span> <span className="text-soft">of {workflow}</span>
          </>
        ),
        right: <Time at={at} />,
      }}
      second={{
        title: message.slice(0, 600),
        left: `${code}: ${message.slice(0, 300)}`,
        right: held ? "held" : status,
      }}
    />
  );
}
