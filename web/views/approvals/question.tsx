import type { InputOf } from "pawl/client";
import { useState } from "react";
import { useDo } from "../../data/use-call.ts";
import { Button } from "../../parts/button.tsx";
import { AskFirst } from "../../parts/dialog.tsx";
import { TextArea } from "../../parts/fields.tsx";
import { useKeys } from "../../parts/keys.ts";
import { Facts } from "../../parts/list-and-detail.tsx";
import { Problem } from "../../parts/problem.tsx";
import { RunLink } from "../../parts/run-link.tsx";
import { ValueView } from "../../parts/value-view.tsx";
import { Id, Time } from "../../parts/values.tsx";
import { type Edited, EditValue } from "./edit-value.tsx";
import type { Approval } from "./use-approvals.ts";
import { whatNoMeans } from "./what-no-means.ts";

type Edit = InputOf<"POST /approvals/{id}/approve">[0]["edited_data"];

const ANSWERS = {
  approve: { title: "Approve this?", yes: "Approve" },
  reject: { title: "Reject this?", yes: "Reject" },
  skip: { title: "Skip this?", yes: "Skip" },
} as const;

/** An answer that the server has recorded. */
export interface Receipt {
  readonly question: Approval;
  readonly answer: keyof typeof ANSWERS;
  readonly at: number;
}

export interface QuestionProps {
  readonly question: Approval;
  readonly onAnswered: (receipt: Receipt) => void;
}

/** A question with what is to be judged, and the three answers to it. */
export function Question({ question, onAnswered }: QuestionProps) {
  const { approval_id: id, allow_edit: allowsEdit } = question;
  const approve = useDo("POST /approvals/{id}/approve");
  const reject = useDo("POST /approvals/{id}/reject");
  const skip = useDo("POST /approvals/{id}/skip");
  const [comment, setComment] = useState("");
  const [edited, setEdited] = useState<Edited>();
  const [asked, setAsked] = useState<keyof typeof ANSWERS>();
  const isBusy = approve.isPending || reject.isPending || skip.isPending;
  const mayApprove = !isBusy && edited?.problem === undefined;
  const said = comment.trim() === "" ? {} : { comment };
  const done = {
    onSuccess: ({ answer }: { readonly answer: Receipt["answer"] }) => onAnswered({ question, answer, at: Date.now() }),
  };
  const sayYes = () =>
    mayApprove &&
    // A JSON value: it was read from the answer of the server, or from a form or a text of JSON.
    approve.mutate({ id, ...said, ...(edited === undefined ? {} : { edited_data: edited.value as Edit }) }, done);
  // One key asks, and another one answers: a letter is typed by mistake.
  useKeys({ a: () => mayApprove && setAsked("approve") });
  const error = approve.error ?? reject.error ?? skip.error;
  return (
    <div className="grid gap-4">
      <p className="whitespace-pre-wrap break-words text-base">{question.message}</p>
      <Terms question={question} />
      <section aria-label="What is to be judged" className="rounded border border-line p-2.5">
        <div className="mb-2 flex flex-wrap items-center justify-between gap-2">
          <h3 className="text-xs font-medium text-soft">What is to be judged</h3>
          {allowsEdit &&
            (edited === undefined ? (
              <Button onClick={() => setEdited({ value: question.shown })}>Edit</Button>
            ) : (
              <Button onClick={() => setEdited(undefined)}>Take back my changes</Button>
            ))}
        </div>
        {edited === undefined ? (
          <ValueView label="what is to be judged" value={question.shown} />
        ) : (
          <EditValue shown={question.shown} schema={question.schema} edited={edited} onChange={setEdited} />
        )}
      </section>
      <TextArea
        label="Comment, recorded with the answer"
        rows={2}
        maxLength={10_000}
        value={comment}
        onChange={({ target }) => setComment(target.value)}
      />
      {error !== null && <Problem error={error} />}
      <div className="flex flex-wrap gap-2">
        <Button kind="main" hint="a" isBusy={isBusy} disabled={!mayApprove} onClick={() => void sayYes()}>
          {edited === undefined ? "Approve" : "Approve with my changes"}
        </Button>
        <Button kind="danger" disabled={isBusy} onClick={() => setAsked("reject")}>
          Reject
        </Button>
        <Button disabled={isBusy} onClick={() => setAsked("skip")}>
          Skip
        </Button>
      </div>
      {asked !== undefined && (
        <AskFirst
          isYesNext={asked === "approve"}
          title={ANSWERS[asked].title}
          yes={ANSWERS[asked].yes}
          onClose={() => setAsked(undefined)}
          onYes={() => {
            setAsked(undefined);
            if (asked === "approve") sayYes();
            else (asked === "reject" ? reject : skip).mutate({ id, ...said }, done);
          }}
        >
          {asked === "approve" ? question.message : whatNoMeans(question.key)[asked]} An answer cannot be taken back.
        </AskFirst>
      )}
    </div>
  );
}

function Terms({ question }: { readonly question: Approval }) {
  const { run_id: run, workflow_name: workflow, path, key, terms, since } = question;
  const { times_out_at: until, on_timeout: then } = question;
  return (
    <Facts
      facts={[
        ["Run", <RunLink key="run" id={run} workflow={workflow} />],
        ["Step", <Id key="path" id={path} whole />],
        ...(key === null || key.startsWith("@") ? [] : [["Asked by its task as", key] as const]),
        ...(terms === null ? [] : [["Answers", terms] as const]),
        ["Waits since", <Time key="since" at={since} />],
        [
          "Times out",
          until === null ? (
            "never: it waits for as long as it takes"
          ) : (
            <span key="until">
              <Time at={until} />; then{" "}
              {then === "skip" ? "the step is skipped, and the run goes on" : "the step fails with APPROVAL_TIMED_OUT"}
            </span>
          ),
        ],
      ]}
    />
  );
}
