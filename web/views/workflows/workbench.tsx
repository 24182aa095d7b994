import type { OutputOf } from "pawl/client";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Link } from "wouter";
import { useInAddress } from "../../data/use-address.ts";
import type { ShownGraph } from "../../parts/graph/shown-graph.ts";
import { Problem } from "../../parts/problem.tsx";
import type { FormSchema } from "../../parts/schema-form.tsx";
import { Split } from "../../parts/split.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { ViewBar } from "../../parts/view-bar.tsx";
import { guessDialect } from "./dialects.ts";
import { CodeEditor, type CodeEditorHandle } from "./editor/code-editor.tsx";
import { complete } from "./editor/complete.ts";
import { type DefinitionSchema, readSchema } from "./editor/definition-schema.ts";
import { GraphSide } from "./graph-side.tsx";
import { PlanTable } from "./plan-table.tsx";
import { ProblemList } from "./problem-list.tsx";
import { useDraft } from "./use-draft.ts";
import { toProblems, useValidation } from "./use-validation.ts";
import { Versions } from "./versions.tsx";
import { useSaving, WorkflowActions } from "./workflow-actions.tsx";

interface WorkbenchProps {
  readonly name: string;
  /** Absent: it was not saved yet. */
  readonly workflow: OutputOf<"GET /workflows/{name}"> | undefined;
  readonly beginning: string;
  readonly onSaved: () => void;
}

const NONE = [] as const;

/** The text of a definition, with what the validator says of it, and what it does beside it. The text is the truth. */
export function Workbench({ name, workflow, beginning, onSaved }: WorkbenchProps) {
  const { initial, text, setText, isChanged, wasKept } = useDraft({ name, saved: workflow?.text, beginning });
  const { validation, error } = useChecked(text, workflow);
  const dialect = guessDialect(text);
  const isJson = text.trimStart().startsWith("{");
  const schema = useSchema(dialect);
  const graph = useGraph(name, validation?.workflows, workflow?.graph);
  const saving = useSaving({ name, text, onSaved });
  const [side, setSide] = useInAddress("side", "graph");
  const editor = useRef<CodeEditorHandle>(null);
  const isSaved = workflow?.source === "saved";
  const failure = saving.error ?? error;
  const isNow = validation?.text === text;
  return (
    <>
      <ViewBar
        title={
          <span className="flex min-w-0 items-center gap-1.5">
            <Link href="/workflows" className="font-normal text-soft hover:underline">
              Workflows
            </Link>
            <span aria-hidden="true" className="text-soft">
              /
            </span>
            <span className="max-w-36 truncate sm:max-w-72" title={name}>
              {name}
            </span>
          </span>
        }
        actions={
          <>
            <Validity
              isNow={isNow}
              errors={validation?.problems.filter(({ severity }) => severity === "error").length}
            />
            {isChanged && <span className="whitespace-nowrap text-sm text-warn">not saved</span>}
            <WorkflowActions
              name={name}
              text={text}
              isChanged={isChanged}
              isValid={validation?.isValid === true}
              workflow={workflow}
              saving={saving}
            />
          </>
        }
      >
        <span className="min-w-0 truncate text-sm text-soft max-sm:hidden">{toOrigin(workflow, dialect)}</span>
      </ViewBar>
      {wasKept && isChanged && workflow !== undefined && (
        <p role="status" className="flex items-center gap-2 border-b border-line px-3 py-1 text-sm">
          Your unsaved text of before stands here.
          <button
            type="button"
            className="text-accent underline"
            onClick={() => editor.current?.replace(workflow.text)}
          >
            Take the saved one
          </button>
        </p>
      )}
      {workflow?.masked === true && (
        <p className="border-b border-line px-3 py-1 text-sm text-warn">
          Secrets of this text are hidden here, and would be lost if it were saved. Write the names of variables
          instead, and set these where the server runs.
        </p>
      )}
      {failure && (
        <div className="max-h-48 overflow-auto border-b border-line px-3 py-2">
          <Problem error={failure} />
        </div>
      )}
      <Split
        label="Text and graph"
        left={
          <div className="flex min-h-0 flex-1 flex-col max-lg:h-[60vh] max-lg:flex-none">
            <div className="min-h-0 flex-1">
              <CodeEditor
                ref={editor}
                initial={initial}
                isJson={isJson}
                problems={validation?.problems ?? NONE}
                problemsOf={validation?.text ?? ""}
                onChange={setText}
                onSave={() => workflow?.masked !== true && saving.save()}
                complete={useCallback((context) => complete(context, { schema, isJson }), [schema, isJson])}
              />
            </div>
            <ProblemList
              problems={validation?.problems ?? NONE}
              onPick={({ place }) => place && editor.current?.goTo(place, { takesFocus: true })}
            />
          </div>
        }
        right={
          <div className="flex min-h-0 flex-1 flex-col max-lg:flex-none">
            <Tabs
              label="Beside the text"
              value={side}
              onPick={setSide}
              tabs={[["graph", "Graph"], ["plan", "Plan"], ...(isSaved ? [["versions", "Versions"] as const] : [])]}
            />
            {side === "plan" ? (
              <PlanTable text={text} schema={(workflow?.input_schema ?? null) as FormSchema | null} />
            ) : side === "versions" && isSaved ? (
              <Versions name={name} text={text} />
            ) : (
              <GraphSide
                graph={graph}
                isNow={isNow && validation?.isValid === true}
                text={text}
                dialect={dialect}
                schema={schema}
                onText={(next) => editor.current?.replace(next)}
                onPlace={(place) => editor.current?.goTo(place, { takesFocus: false })}
              />
            )}
          </div>
        }
      />
    </>
  );
}

function toOrigin(workflow: WorkbenchProps["workflow"], dialect: string): string {
  if (workflow === undefined) return `${dialect}, new`;
  const { source, file, version } = workflow;
  return `${dialect}, ${source === "file" ? file : source === "saved" ? `version ${version ?? 1}` : source}`;
}

function Validity({ isNow, errors }: { readonly isNow: boolean; readonly errors: number | undefined }) {
  if (!isNow || errors === undefined) return <span className="whitespace-nowrap text-sm text-soft">checking …</span>;
  if (errors === 0)
    return (
      <span className="whitespace-nowrap text-sm text-ok">
        <span aria-hidden="true">✓ </span>
        <span>valid</span>
      </span>
    );
  return (
    <span className="whitespace-nowrap text-sm text-bad">
      <span aria-hidden="true">✕ </span>
      {errors === 1 ? "1 problem" : `${errors} problems`}
    </span>
  );
}

function useSchema(dialect: ReturnType<typeof guessDialect>): DefinitionSchema | undefined {
  const [read, setRead] = useState<{ readonly of: string; readonly schema: DefinitionSchema }>();
  useEffect(() => {
    let isStale = false;
    void readSchema(dialect).then((schema) => isStale || setRead({ of: dialect, schema }));
    return () => {
      isStale = true;
    };
  }, [dialect]);
  return read?.of === dialect ? read.schema : undefined;
}

/** A file may name scripts and prompts beside it, which a text that is sent cannot: as it stands in its file, it is what the list says. */
function useChecked(text: string, workflow: WorkbenchProps["workflow"]): ReturnType<typeof useValidation> {
  const checked = useValidation(text);
  return useMemo(() => {
    if (workflow?.source !== "file" || workflow.text !== text) return checked;
    const { valid, problems, name, dialect, graph } = workflow;
    const workflows = [{ name, dialect: dialect ?? "", steps: 0, graph }];
    return { validation: { text, isValid: valid, problems: toProblems(problems), workflows } };
  }, [checked, text, workflow]);
}

type Checked = OutputOf<"POST /workflows/validate">["workflows"];

/** Of the text; while it is not valid, the last one that was. */
function useGraph(
  name: string,
  checked: Checked | undefined,
  saved: ShownGraph | null | undefined,
): ShownGraph | undefined {
  const last = useRef<ShownGraph>(undefined);
  return useMemo(() => {
    const own = checked?.find((each) => each.name === name) ?? checked?.[0];
    last.current = own?.graph ?? last.current ?? saved ?? undefined;
    return last.current;
  }, [name, checked, saved]);
}
