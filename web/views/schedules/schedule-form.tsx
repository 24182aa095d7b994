import { type InputOf, writeExact } from "pawl/client";
import { useId, useState } from "react";
import { useCall, useDo } from "../../data/use-call.ts";
import { useSettled } from "../../data/use-settled.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Choice, TextField } from "../../parts/fields.tsx";
import { Problem } from "../../parts/problem.tsx";
import { type FormSchema, SchemaForm } from "../../parts/schema-form.tsx";
import { FireTimes } from "./fire-times.tsx";
import type { Schedule } from "./use-schedules.ts";

type Made = NonNullable<InputOf<"POST /schedules">[0]>;

const ZONES = Intl.supportedValuesOf("timeZone");

interface ScheduleFormProps {
  /** The one that is changed. Absent: a new one is made. */
  readonly schedule?: Schedule;
  readonly onClose: () => void;
  readonly onDone: (id: string) => void;
}

/** A schedule is made or changed, with its next times before the click. */
export function ScheduleForm({ schedule, onClose, onDone }: ScheduleFormProps) {
  const create = useDo("POST /schedules");
  const change = useDo("PATCH /schedules/{id}");
  const { data: workflows } = useCall("GET /workflows", {});
  const [workflow, setWorkflow] = useState(schedule?.workflow_name ?? "");
  const [cron, setCron] = useState(schedule?.cron_expression ?? "0 6 * * 1-5");
  const [timezone, setTimezone] = useState(
    schedule?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone ?? "UTC",
  );
  const [input, setInput] = useState<Readonly<Record<string, unknown>>>(schedule?.input_data ?? {});
  const [inputProblem, setInputProblem] = useState<string>();
  const [overlap, setOverlap] = useState(schedule?.overlap ?? "skip");
  const [catchUp, setCatchUp] = useState(schedule?.catch_up ?? "one");
  const [jitter, setJitter] = useState(String(schedule?.jitter_seconds ?? 0));
  const preview = usePreview(cron, timezone);
  const zones = useId();
  const named = workflows?.items.find(({ name }) => name === workflow);
  const error = create.error ?? change.error;
  const isJitterWrong = !/^\d{1,4}$/.test(jitter.trim()) || Number(jitter) > 3_600;
  const send = () => {
    // The input is JSON: a form or a text of JSON has made it.
    const given = {
      cron,
      timezone,
      input: input as Made["input"],
      overlap,
      catch_up: catchUp,
      jitter_seconds: Number(jitter),
    };
    const done = { onSuccess: ({ schedule_id: id }: { readonly schedule_id: string }) => onDone(id) };
    if (schedule === undefined) create.mutate({ workflow, ...given }, done);
    else change.mutate({ id: schedule.schedule_id, ...changesOf(schedule, given) }, done);
  };
  const names = workflows?.items.filter(({ valid }) => valid).map(({ name }) => [name, name] as const) ?? [];
  return (
    <Dialog
      title={schedule === undefined ? "New schedule" : `Edit the schedule of ${schedule.workflow_name}`}
      onClose={onClose}
      actions={
        <Button
          kind="main"
          isBusy={create.isPending || change.isPending}
          disabled={workflow === "" || cron.trim() === "" || inputProblem !== undefined || isJitterWrong}
          onClick={send}
        >
          {schedule === undefined ? "Make it" : "Change it"}
        </Button>
      }
    >
      <div className="grid gap-3">
        {schedule === undefined && (
          <Choice
            label="Workflow"
            value={workflow}
            choices={[["", "choose …"], ...names]}
            onPick={(name) => {
              setWorkflow(name);
              setInput({});
              setInputProblem(undefined);
            }}
          />
        )}
        <div className="grid gap-3 sm:grid-cols-2">
          <TextField
            label="Cron expression"
            value={cron}
            note="minute, hour, day, month, weekday"
            error={preview.error?.code === "CRON_INVALID" ? preview.error.message : undefined}
            onChange={({ target }) => setCron(target.value)}
          />
          <TextField
            label="Time zone"
            list={zones}
            value={timezone}
            error={preview.error?.code === "TIMEZONE_INVALID" ? preview.error.message : undefined}
            onChange={({ target }) => setTimezone(target.value)}
          />
          <datalist id={zones}>
            {["UTC", ...ZONES].map((zone) => (
              <option key={zone} value={zone} />
            ))}
          </datalist>
        </div>
        {preview.data && preview.error === null && (
          <section aria-label="Next times" className="rounded border border-line p-2 text-sm">
            <FireTimes times={preview.data.next_fire_times} />
          </section>
        )}
        {workflow !== "" && (workflows !== undefined || schedule !== undefined) && (
          <SchemaForm
            key={`${workflow} ${named === undefined}`}
            schema={named?.input_schema as FormSchema | null | undefined}
            value={input}
            onChange={(value, problem) => {
              setInput(value);
              setInputProblem(problem);
            }}
          />
        )}
        {inputProblem !== undefined && <p className="text-sm text-warn">{inputProblem}</p>}
        <Choice
          label="While the run of the slot before is under way"
          value={overlap}
          choices={[
            ["skip", "skip the slot"],
            ["queue", "let it wait"],
            ["cancel_previous", "cancel that run"],
          ]}
          onPick={(value) => setOverlap(value as typeof overlap)}
        />
        <Choice
          label="Slots that pass while no server runs"
          value={catchUp}
          choices={[
            ["one", "catch up the last one"],
            ["all", "catch up the last hundred"],
            ["none", "leave them out"],
          ]}
          onPick={(value) => setCatchUp(value as typeof catchUp)}
        />
        <TextField
          label="Jitter in seconds"
          inputMode="numeric"
          value={jitter}
          note="Each run starts up to so much later."
          error={isJitterWrong ? "A whole number from 0 to 3600." : undefined}
          onChange={({ target }) => setJitter(target.value)}
        />
        {error !== null && <Problem error={error} />}
      </div>
    </Dialog>
  );
}

type Changed = Omit<InputOf<"PATCH /schedules/{id}">[0], "id">;

/** What differs: the server refuses some changes of schedules that follow a definition, and is not asked for what stays. */
function changesOf(before: Schedule, given: Changed): Changed {
  const was = { ...before, cron: before.cron_expression, input: before.input_data };
  return Object.fromEntries(
    Object.entries(given).filter(
      ([name, value]) => writeExact(value) !== writeExact((was as Readonly<Record<string, unknown>>)[name]),
    ),
  );
}

/** When it fires next, asked for when the typing pauses. */
function usePreview(cron: string, timezone: string) {
  const [settledCron, settledZone] = [useSettled(cron.trim()), useSettled(timezone.trim())];
  return useCall(
    "GET /schedules/preview",
    { cron: settledCron, timezone: settledZone },
    { enabled: settledCron !== "" && settledZone !== "" },
  );
}
