import { useState } from "react";
import { Link } from "wouter";
import { useCall, useDo } from "../../data/use-call.ts";
import type { ItemOf } from "../../data/use-list.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { TextArea } from "../../parts/fields.tsx";
import { Facts } from "../../parts/list-and-detail.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { RunLink } from "../../parts/run-link.tsx";
import { Status } from "../../parts/status.tsx";
import { LongText } from "../../parts/value-view.tsx";
import { Id, Time } from "../../parts/values.tsx";

type Letter = ItemOf<"GET /dead-letter">;

/** The status whose sign stands for it. */
export function signOf({ held, status }: Letter): string {
  if (status !== "open") return status;
  return held ? "held" : "failed";
}

/** A step that has failed for good or is held: its error in full, a retry, and a note that nothing more is to be done. */
export function DeadLetterDetail({ id }: { readonly id: string }) {
  const { data: letter, error } = useCall("GET /dead-letter/{id}", { id });
  const retry = useDo("POST /dead-letter/{id}/retry");
  const resolve = useDo("POST /dead-letter/{id}/resolve");
  const [isResolving, setResolving] = useState(false);
  return (
    <div className="grid gap-4">
      {retry.data && (
        <p role="status" className="text-ok">
          {retry.data.run_id === letter?.run_id ? "Its run goes on." : "It is tried again."}{" "}
          <Link href={`/runs/${retry.data.run_id}`} className="underline">
            See the run
          </Link>
          {retry.data.changes.map((change) => (
            <span key={change} className="block text-warn">
              {change}
            </span>
          ))}
        </p>
      )}
      {/* A step that is not held any more has no dead letter: after a retry nothing is wrong. */}
      {error !== null && retry.data === undefined && <Problem error={error} />}
      {letter === undefined && error === null && <Loading what="the dead letter" />}
      {letter !== undefined && (
        <>
          {letter.status === "open" && retry.data === undefined && error === null && (
            <div>
              <div className="flex flex-wrap gap-2">
                <Button kind="main" isBusy={retry.isPending} onClick={() => retry.mutate({ id })}>
                  {letter.held ? "Go on with it" : "Retry"}
                </Button>
                <Button onClick={() => setResolving(true)}>Resolve</Button>
              </div>
              <p className="mt-1 text-xs text-soft">
                {letter.held
                  ? "Its run has not ended: the step is done again in it. Processes have died of this step; look at its work first."
                  : "A retry is a new run that takes over what has succeeded, and goes on from this step. To resolve means that nothing more is to be done; the run stays as it ended."}
              </p>
            </div>
          )}
          {retry.error !== null && <Problem error={retry.error} />}
          <Problem error={letter} />
          <LetterFacts letter={letter} />
        </>
      )}
      {isResolving && (
        <ResolveDialog
          isBusy={resolve.isPending}
          error={resolve.error}
          onClose={() => {
            setResolving(false);
            resolve.reset();
          }}
          onResolve={(note) =>
            resolve.mutate({ id, ...(note.trim() === "" ? {} : { note }) }, { onSuccess: () => setResolving(false) })
          }
        />
      )}
    </div>
  );
}

function LetterFacts({ letter }: { readonly letter: Letter }) {
  const { run_id: run, workflow_name: workflow, path, note, retried_as: again } = letter;
  return (
    <Facts
      facts={[
        ["State", <Status key="state" status={letter.held && letter.status === "open" ? "held" : letter.status} />],
        ["Run", <RunLink key="run" id={run} workflow={workflow} />],
        ["Step", <Id key="path" id={path} whole />],
        [letter.held ? "Held since" : "Failed", <Time key="failed" at={letter.failed_at} />],
        ...(letter.closed_at === null ? [] : [["Dealt with", <Time key="closed" at={letter.closed_at} />] as const]),
        ...(note === null ? [] : [["Note", <LongText key="note" text={note} />] as const]),
        ...(again === null
          ? []
          : [
              [
                "Retried as",
                <Link key="again" href={`/runs/${again}`} className="break-all text-accent underline">
                  {again}
                </Link>,
              ] as const,
            ]),
      ]}
    />
  );
}

interface ResolveDialogProps {
  readonly isBusy: boolean;
  readonly error: Parameters<typeof Problem>[0]["error"] | null;
  readonly onClose: () => void;
  readonly onResolve: (note: string) => void;
}

function ResolveDialog({ isBusy, error, onClose, onResolve }: ResolveDialogProps) {
  const [note, setNote] = useState("");
  return (
    <Dialog
      title="Nothing more is to be done?"
      onClose={onClose}
      actions={
        <Button kind="danger" isBusy={isBusy} onClick={() => onResolve(note)}>
          Resolve
        </Button>
      }
    >
      <div className="grid gap-3">
        <p className="text-soft">It leaves the list of what is open, and cannot be retried from here any more.</p>
        <TextArea
          label="Why, for whoever looks later"
          rows={3}
          autoFocus
          maxLength={10_000}
          value={note}
          onChange={({ target }) => setNote(target.value)}
        />
        {error !== null && <Problem error={error} />}
      </div>
    </Dialog>
  );
}
