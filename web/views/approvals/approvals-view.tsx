import { useState } from "react";
import { Link, useLocation } from "wouter";
import { useNamed } from "../../data/use-address.ts";
import { ListAndDetail } from "../../parts/list-and-detail.tsx";
import { ListPane } from "../../parts/list-pane.tsx";
import { Empty } from "../../parts/loading.tsx";
import { useRowKeys } from "../../parts/row-keys.ts";
import { TwoLineRow } from "../../parts/two-line-row.tsx";
import { Time } from "../../parts/values.tsx";
import { ViewBar } from "../../parts/view-bar.tsx";
import { ClosedQuestion } from "./closed-question.tsx";
import { Question, type Receipt } from "./question.tsx";
import { type Approval, useApprovals } from "./use-approvals.ts";

/** Every question that waits for a person, and the one that is picked with what is to be judged. */
export function ApprovalsView() {
  const list = useApprovals();
  const { items, isPending, hasNextPage } = list;
  const picked = useNamed();
  const [, go] = useLocation();
  const at = useRowKeys({
    count: items.length,
    onOpen: (index) => go(toAddress(items[index])),
    onClose: () => go("/approvals"),
  });
  const question = items.find(({ approval_id }) => approval_id === picked);
  const next = items[items.findIndex(({ approval_id }) => approval_id === picked) + 1];
  const [receipts, setReceipts] = useState<readonly Receipt[]>([]);
  const keep = (receipt: Receipt) => setReceipts((before) => [receipt, ...before].slice(0, MOST_RECEIPTS));
  const detail =
    question !== undefined ? (
      <Question
        key={question.approval_id}
        question={question}
        onAnswered={(receipt) => {
          keep(receipt);
          go(toAddress(next));
        }}
      />
    ) : (
      picked !== "" && !isPending && <ClosedQuestion key={picked} id={picked} onAnswered={keep} />
    );
  return (
    <>
      <ViewBar title="Approvals">
        <span className="text-soft">
          {items.length > 0 &&
            `${items.length}${hasNextPage ? " and more" : ""} ${items.length === 1 ? "waits" : "wait"} for a person`}
        </span>
      </ViewBar>
      <Receipts receipts={receipts} />
      <ListAndDetail
        title={question === undefined ? "This question" : `${question.workflow_name} · ${question.step_id}`}
        onClose={() => go("/approvals")}
        {...(detail === false ? {} : { detail })}
        list={
          <ListPane
            label="Open questions"
            list={list}
            height={52}
            at={at}
            keyOf={({ approval_id }) => approval_id}
            row={(each) => <QuestionRow question={each} isPicked={each.approval_id === picked} />}
            empty={
              <Empty title="Nobody is asked anything.">
                A run that asks a person stands here until it is answered: a step of the type{" "}
                <code className="font-mono text-xs">approval</code>, a tool that wants to be allowed, or a budget that
                is used up. It comes by itself.
              </Empty>
            }
          />
        }
      />
    </>
  );
}

const MOST_RECEIPTS = 5;
const SAID = { approve: "Approved", reject: "Rejected", skip: "Skipped" } as const;

/** What was answered here, as the server has recorded it. */
function Receipts({ receipts }: { readonly receipts: readonly Receipt[] }) {
  return (
    <ul aria-label="Your answers" aria-live="polite" className="bg-ok/8 text-sm">
      {receipts.map(({ question, answer, at }) => (
        <li key={question.approval_id} className="flex flex-wrap gap-x-2 border-b border-line px-3 py-1">
          <span className="font-medium">{SAID[answer]}</span>
          <span className="min-w-0 truncate">{question.message}</span>
          <Link href={toAddress(question)} className="text-accent underline">
            {question.workflow_name} · {question.path}
          </Link>
          <Time at={at} />
        </li>
      ))}
    </ul>
  );
}

function QuestionRow({ question, isPicked }: { readonly question: Approval; readonly isPicked: boolean }) {
  const { workflow_name: workflow, step_id: step, message, since, times_out_at: until } = question;
  return (
    <TwoLineRow
      sign="awaiting_approval"
      href={toAddress(question)}
      isPicked={isPicked}
      first={{ title: message, left: <span className="font-medium">{message}</span>, right: <Time at={since} /> }}
      second={{
        title: `${workflow} · ${step}`,
        left: `${workflow} · ${step}`,
        right: until !== null && (
          <span className="text-warn">
            times out <Time at={until} />
          </span>
        ),
      }}
    />
  );
}

/** The address of a question; of the list where there is none. A path may have slashes. */
function toAddress(question: Approval | undefined): string {
  return question === undefined ? "/approvals" : `/approvals/${encodeURIComponent(question.approval_id)}`;
}
