import type { ApiError, OutputOf } from "pawl/client";
import { useState } from "react";
import { useLocation } from "wouter";
import { useDo } from "../../data/use-call.ts";
import { Button } from "../../parts/button.tsx";
import { AskFirst } from "../../parts/dialog.tsx";
import { Problem } from "../../parts/problem.tsx";
import type { FormSchema } from "../../parts/schema-form.tsx";
import { StartRun } from "../../parts/start-run.tsx";
import { toAddress } from "./workflow-address.ts";

interface Saving {
  readonly save: () => void;
  readonly isBusy: boolean;
  readonly error: ApiError | null;
}

interface SavingOptions {
  readonly name: string;
  readonly text: string;
  readonly onSaved: () => void;
}

/** Saves the text under the name that it says, which may be another one than that of the page. */
export function useSaving({ name, text, onSaved }: SavingOptions): Saving {
  const { mutate, isPending, error } = useDo("POST /workflows");
  const [, go] = useLocation();
  const save = () =>
    mutate(
      { text },
      {
        onSuccess: (saved) => {
          if (saved.name === name) onSaved();
          else go(toAddress(saved.name));
        },
      },
    );
  return { save, isBusy: isPending, error };
}

interface WorkflowActionsProps {
  readonly name: string;
  readonly text: string;
  readonly isChanged: boolean;
  readonly isValid: boolean;
  readonly workflow: OutputOf<"GET /workflows/{name}"> | undefined;
  readonly saving: Saving;
}

export function WorkflowActions({ name, text, isChanged, isValid, workflow, saving }: WorkflowActionsProps) {
  const [asks, setAsks] = useState<"start" | "delete">();
  const remove = useDo("DELETE /workflows/{name}");
  const [, go] = useLocation();
  const close = () => setAsks(undefined);
  return (
    <>
      {workflow !== undefined && workflow.source !== "file" && (
        <Button kind="danger" onClick={() => setAsks("delete")}>
          Delete
        </Button>
      )}
      <Button disabled={!isValid} onClick={() => setAsks("start")}>
        Start
      </Button>
      <Button
        kind="main"
        isBusy={saving.isBusy}
        disabled={!isChanged || workflow?.masked === true}
        title={workflow?.masked === true ? "Secrets of the text are hidden here, and would be lost" : undefined}
        onClick={saving.save}
      >
        Save
      </Button>
      {asks === "start" && (
        <StartRun
          workflow={isChanged ? text : name}
          title={isChanged ? `${name}, as it stands here` : name}
          schema={workflow?.input_schema as FormSchema | null}
          fields={workflow?.input_fields}
          onClose={close}
        />
      )}
      {asks === "delete" && (
        <AskFirst
          title={`Delete ${name}?`}
          yes="Delete it"
          isBusy={remove.isPending}
          onYes={() => remove.mutate({ name }, { onSuccess: () => go("/workflows") })}
          onClose={close}
        >
          <p>All its versions are deleted, and what starts it by itself ends. Runs of it go on, and stay.</p>
          {remove.error && <Problem error={remove.error} />}
        </AskFirst>
      )}
    </>
  );
}
