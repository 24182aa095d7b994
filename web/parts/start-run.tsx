import { type ApiError, type InputOf, type OutputOf, parseExact, writeExact } from "pawl/client";
import { useEffect, useState } from "react";
import { useLocation } from "wouter";
import { useServer } from "../data/server.tsx";
import { useCall } from "../data/use-call.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Choice, TextField } from "./fields.tsx";
import { Problem } from "./problem.tsx";
import { type FormSchema, SchemaForm } from "./schema-form.tsx";
import { toUsdText } from "./values.tsx";

interface StartRunProps {
  readonly onClose: () => void;
  /** A registered name, or the text of a definition. Absent: it is chosen here. */
  readonly workflow?: string;
  /** What a text of a definition is called. */
  readonly title?: string;
  readonly schema?: FormSchema | null;
  /** What the definition names of its input, declared or not. */
  readonly fields?: readonly string[] | undefined;
}

type Start = NonNullable<InputOf<"POST /workflows/run">[0]>;

/** Starts a run: its input as a form, and what it costs at worst before the click. */
export function StartRun({ onClose, workflow: given, title, schema: givenSchema, fields }: StartRunProps) {
  const { client } = useServer();
  const [, go] = useLocation();
  const { data: workflows } = useCall("GET /workflows", {}, { enabled: given === undefined });
  const [picked, setPicked] = useState("");
  const [input, setInput] = useState<Readonly<Record<string, unknown>>>({});
  const [inputProblem, setInputProblem] = useState<string>();
  const [agent, setAgent] = useState("");
  const [budget, setBudget] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const workflow = given ?? picked;
  const summary = workflows?.items.find(({ name }) => name === workflow);
  const schema = givenSchema ?? (summary?.input_schema as FormSchema | null | undefined);
  const start = {
    workflow,
    input: input as Start["input"],
    ...(agent === "" ? {} : { agent: agent as Start["agent"] }),
    ...(Number(budget) > 0 ? { max_cost_usd: Number(budget) } : {}),
  } as Start;
  const plan = usePlan(workflow === "" || inputProblem !== undefined ? undefined : start);
  const run = async () => {
    setBusy(true);
    try {
      const { run_id } = await client.call("POST /workflows/run", start);
      onClose();
      go(`/runs/${run_id}`);
    } catch (failure) {
      setError(failure as ApiError);
      setBusy(false);
    }
  };
  const names = workflows?.items.filter(({ valid }) => valid).map(({ name }) => [name, name] as const) ?? [];
  return (
    <Dialog
      title={given === undefined ? "Start a run" : `Run ${title ?? given}`}
      onClose={onClose}
      actions={
        <>
          <WorstCase plan={plan} />
          <Button
            kind="main"
            isBusy={isBusy}
            disabled={workflow === "" || inputProblem !== undefined}
            onClick={() => void run()}
          >
            {isBusy ? "Starting …" : "Start"}
          </Button>
        </>
      }
    >
      <div className="grid gap-3">
        {given === undefined && (
          <Choice label="Workflow" value={picked} choices={[["", "choose …"], ...names]} onPick={setPicked} />
        )}
        {workflow !== "" && (
          <SchemaForm
            key={workflow}
            schema={schema}
            fields={fields ?? summary?.input_fields}
            value={input}
            onChange={(value, problem) => {
              setInput(value);
              setInputProblem(problem);
            }}
          />
        )}
        <div className="grid grid-cols-2 gap-3">
          <Choice
            label="Who answers agents"
            note={
              (agent === "simulated" || plan.plan?.total.is === "simulated") &&
              "Simulated agents are paid nothing. The costs that such a run shows are made up: its script's, or none."
            }
            value={agent}
            choices={[
              ["", "as configured"],
              ["simulated", "simulated: nothing is sent or paid"],
              ["inline", "models, inside Pawl"],
              ["sandstorm", "Sandstorm"],
            ]}
            onPick={setAgent}
          />
          <TextField
            label="Budget in US dollars"
            inputMode="decimal"
            value={budget}
            error={budget !== "" && !(Number(budget) > 0) ? "A number above 0." : undefined}
            onChange={({ target }) => setBudget(target.value)}
          />
        </div>
        {inputProblem !== undefined && <p className="text-sm text-warn">{inputProblem}</p>}
        {(error ?? plan.error) && <Problem error={(error ?? plan.error) as ApiError} />}
      </div>
    </Dialog>
  );
}

interface Planned {
  readonly plan?: OutputOf<"POST /workflows/plan">;
  readonly error?: ApiError;
}

/** What the run would cost at worst, asked for when the typing pauses. */
function usePlan(start: Start | undefined): Planned {
  const { client } = useServer();
  const [planned, setPlanned] = useState<Planned>({});
  const asked = start === undefined ? undefined : writeExact(start);
  useEffect(() => {
    if (asked === undefined) return setPlanned({});
    let isStale = false;
    const timer = setTimeout(() => {
      client.call("POST /workflows/plan", parseExact(asked)).then(
        (plan) => isStale || setPlanned({ plan }),
        (error: ApiError) => isStale || setPlanned({ error }),
      );
    }, 300);
    return () => {
      isStale = true;
      clearTimeout(timer);
    };
  }, [asked, client]);
  return planned;
}

function WorstCase({ plan: { plan } }: { readonly plan: Planned }) {
  if (plan === undefined) return null;
  const { is, at_most_usd: atMost, because } = plan.total;
  const words =
    is === "none" || is === "simulated"
      ? "costs nothing"
      : atMost !== null
        ? `at worst ${toUsdText(atMost)}`
        : is === "unpriced"
          ? "its price is not known"
          : "nothing limits its cost";
  return (
    <span
      className={`mr-auto self-center text-sm ${atMost === null && is !== "none" && is !== "simulated" ? "text-warn" : "text-soft"}`}
      title={because}
    >
      {words}
    </span>
  );
}
