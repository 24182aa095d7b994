import type { InputOf } from "pawl/client";
import { writeExact } from "pawl/client";
import { useState } from "react";
import { useLocation } from "wouter";
import { useCall, useDo } from "../../data/use-call.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { TextArea, TextField } from "../../parts/fields.tsx";
import { LineDiff } from "../../parts/line-diff.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { JsonField } from "../../parts/schema-form.tsx";
import type { Run } from "./use-run.ts";
import { findWritten, type WrittenStep } from "./written-step.ts";

interface ForkDialogProps {
  readonly run: Run;
  /** Where it is done again from; empty: from its beginning. */
  readonly step: string;
  readonly onClose: () => void;
}

/** Does a run again with something changed in place, and shows the difference before the click. */
export function ForkDialog({ run, step, onClose }: ForkDialogProps) {
  const graph = useCall("GET /runs/{id}/graph", { id: run.run_id });
  const whole = useCall("GET /runs/{id}", {
    id: run.run_id,
    steps: false,
    prompts: false,
    outputs: false,
    whole: true,
  });
  if (graph.data === undefined || whole.data === undefined) {
    return (
      <Dialog title="Fork with changes" onClose={onClose}>
        {(graph.error ?? whole.error) ? (
          <Problem error={(graph.error ?? whole.error) as never} />
        ) : (
          <Loading what="the definition" />
        )}
      </Dialog>
    );
  }
  const written = step === "" ? undefined : findWritten(graph.data, step);
  return <Form run={run} step={step} written={written} input={whole.data.input_data} onClose={onClose} />;
}

type Changes = NonNullable<InputOf<"POST /runs/{id}/fork">[0]>["changes"];

function Form({
  run,
  step,
  written,
  input,
  onClose,
}: ForkDialogProps & { written: WrittenStep | undefined; input: unknown }) {
  const [, go] = useLocation();
  const fork = useDo("POST /runs/{id}/fork");
  const [prompt, setPrompt] = useState(written?.prompt ?? "");
  const [model, setModel] = useState(written?.model ?? "");
  const [budget, setBudget] = useState("");
  const [given, setGiven] = useState<unknown>(input);
  const [problem, setProblem] = useState<string>();
  const before = { prompt: written?.prompt ?? "", model: written?.model ?? "" };
  const changedInput = changesOf(input, given);
  const changes = {
    ...(prompt === before.prompt ? {} : { prompt }),
    ...(model === before.model ? {} : { model }),
    ...(changedInput === undefined ? {} : { input: changedInput }),
    ...(Number(budget) > 0 ? { max_cost_usd: Number(budget) } : {}),
  } as Changes;
  const isSame = Object.keys(changes).length === 0;
  const send = () =>
    fork.mutate(
      { id: run.run_id, changes, ...(step === "" ? {} : { from_step: step }) },
      {
        onSuccess: ({ run_id }) => {
          onClose();
          go(`/runs/${run_id}`);
        },
      },
    );
  return (
    <Dialog
      isWide
      title={step === "" ? "Fork with changes" : `Fork from ${step}`}
      onClose={onClose}
      actions={
        <>
          <span className="mr-auto self-center text-sm text-soft">
            {isSame ? "Nothing is changed yet." : "A new run begins; this one stays as it is."}
          </span>
          <Button onClick={onClose}>Close</Button>
          <Button kind="main" disabled={isSame || problem !== undefined} isBusy={fork.isPending} onClick={send}>
            Start the fork
          </Button>
        </>
      }
    >
      <div className="grid gap-3">
        {step === "" && (
          <p className="text-soft">
            To change the prompt or the model of a step, close this and choose the step first.
          </p>
        )}
        {written !== undefined && (
          <>
            <TextArea
              label={`Prompt of ${written.id}`}
              value={prompt}
              rows={Math.min(16, Math.max(4, prompt.split("\n").length + 1))}
              note={written.prompt === undefined ? "Empty: as the definition has it." : undefined}
              onChange={({ target }) => setPrompt(target.value)}
            />
            {written.prompt !== undefined && prompt !== written.prompt && (
              <LineDiff before={written.prompt} after={prompt} />
            )}
            <TextField
              label="Model"
              value={model}
              placeholder="as the definition has it"
              onChange={({ target }) => setModel(target.value)}
            />
          </>
        )}
        <JsonField
          label="Input of the run"
          value={input}
          onChange={(value, found) => {
            setGiven(value);
            setProblem(found);
          }}
        />
        {changedInput !== undefined && <LineDiff before={writeExact(input, 2)} after={writeExact(given, 2)} />}
        <TextField
          label="Budget in US dollars"
          inputMode="decimal"
          placeholder="as before"
          value={budget}
          onChange={({ target }) => setBudget(target.value)}
        />
        {fork.error && <Problem error={fork.error} />}
      </div>
    </Dialog>
  );
}

/** The values that are new, name by name, as a fork takes them. */
function changesOf(before: unknown, after: unknown): Readonly<Record<string, unknown>> | undefined {
  const [old, now] = [before, after].map((value) =>
    typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {},
  );
  const changed = Object.entries(now ?? {}).filter(([name, value]) => writeExact(value) !== writeExact(old?.[name]));
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}
