import type { FeedEvent, InputOf } from "pawl/client";
import { useEffect, useMemo, useRef, useState } from "react";
import { useInAddress } from "../../data/use-address.ts";
import { useAgainAt } from "../../data/use-again-at.ts";
import { type ItemOf, useList } from "../../data/use-list.ts";
import { useSettled } from "../../data/use-settled.ts";
import { Choice, TextField } from "../../parts/fields.tsx";
import { useKeys } from "../../parts/keys.ts";
import { ListAndDetail } from "../../parts/list-and-detail.tsx";
import { ListPane } from "../../parts/list-pane.tsx";
import { Empty } from "../../parts/loading.tsx";
import { useRowKeys } from "../../parts/row-keys.ts";
import { wordsOf } from "../../parts/status.tsx";
import { TwoLineRow } from "../../parts/two-line-row.tsx";
import { Time } from "../../parts/values.tsx";
import { ViewBar } from "../../parts/view-bar.tsx";
import { WebhookDetail } from "./webhook-detail.tsx";

type Webhook = ItemOf<"GET /webhooks">;
type Filter = Pick<NonNullable<InputOf<"GET /webhooks">[0]>, "status" | "run">;

/** What webhooks are told of. */
const isTold = ({ event }: FeedEvent) =>
  event === "run.finished" || event.startsWith("approval.") || event === "step.held" || event.startsWith("budget.");

/** Every message to another server: whether it was taken, and what was answered. */
export function WebhooksView() {
  const [status, setStatus] = useInAddress("status");
  const [run] = useInAddress("run");
  const [id, setId] = useInAddress("id");
  const filter = useMemo(
    (): Filter => ({
      ...(status === "" ? {} : { status: [status] as Filter["status"] }),
      ...(run === "" ? {} : { run }),
    }),
    [status, run],
  );
  const list = useList("GET /webhooks", filter, { when: isTold, isLate: true });
  const { items } = list;
  useAgainAt(
    list,
    items.map(({ next_attempt_at: next }) => next),
  );
  const at = useRowKeys({
    count: items.length,
    onOpen: (index) => setId(items[index]?.webhook_id ?? ""),
    onClose: () => setId(""),
  });
  return (
    <>
      <ViewBar title="Webhooks">
        <div className="w-36">
          <Choice
            label="Status"
            hidesLabel
            value={status}
            choices={[
              ["", "every status"],
              ["pending", "pending"],
              ["delivered", "delivered"],
              ["failed", "failed"],
              ["skipped", "skipped"],
            ]}
            onPick={setStatus}
          />
        </div>
        <RunField />
      </ViewBar>
      <ListAndDetail
        title="Delivery"
        onClose={() => setId("")}
        {...(id !== "" && { detail: <WebhookDetail key={id} id={id} /> })}
        list={
          <ListPane
            label="Deliveries"
            list={list}
            height={52}
            at={at}
            keyOf={({ webhook_id }) => webhook_id}
            row={(each) => <WebhookRow webhook={each} isPicked={each.webhook_id === id} onPick={setId} />}
            empty={
              status === "" && run === "" ? (
                <Empty title="Nothing was told to another server.">
                  A workflow that names a webhook (
                  <code className="font-mono text-xs">on_complete: {"{webhook: https://…}"}</code>), a schedule that
                  notifies and a budget that is near its end send messages, which stand here with their answers.
                </Empty>
              ) : (
                <Empty title="No delivery fits.">Take a filter away.</Empty>
              )
            }
          />
        }
      />
    </>
  );
}

/** The run that deliveries are about. */
function RunField() {
  const [run, setRun] = useInAddress("run");
  const [typed, setTyped] = useState(run);
  const settled = useSettled(typed);
  const field = useRef<HTMLDivElement>(null);
  useKeys({ "/": () => field.current?.querySelector("input")?.focus() });
  useEffect(() => setRun(settled.trim()), [settled, setRun]);
  return (
    <div ref={field} className="w-52">
      <TextField
        label="Run"
        hidesLabel
        type="search"
        placeholder="id of a run  ( / )"
        maxLength={200}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
    </div>
  );
}

interface WebhookRowProps {
  readonly webhook: Webhook;
  readonly isPicked: boolean;
  readonly onPick: (id: string) => void;
}

function WebhookRow({ webhook, isPicked, onPick }: WebhookRowProps) {
  const { webhook_id: id, event, workflow_name: workflow, url, status, attempt, error, channel } = webhook;
  const why = error === null ? "" : `: ${error.message.slice(0, 300)}`;
  return (
    <TwoLineRow
      sign={status}
      isPicked={isPicked}
      onPick={() => onPick(id)}
      first={{
        title: `${event} of ${workflow}`,
        left: (
          <>
            <span className="font-medium">{event}</span> <span className="text-soft">of {workflow}</span>
          </>
        ),
        right: <Time at={webhook.created_at} />,
      }}
      second={{
        title: `${url}${why}`,
        left: `${channel === "webhook" ? "" : `${channel} `}${url}${why}`,
        right: `${wordsOf(status)}, ${attempt} ${attempt === 1 ? "try" : "tries"}`,
      }}
    />
  );
}
