import { useState } from "react";
import { Link } from "wouter";
import { useDo } from "../../data/use-call.ts";
import { Button } from "../../parts/button.tsx";
import { AskFirst } from "../../parts/dialog.tsx";
import { Facts } from "../../parts/list-and-detail.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Status } from "../../parts/status.tsx";
import { ValueView } from "../../parts/value-view.tsx";
import { Id, Time } from "../../parts/values.tsx";
import { FireTimes } from "./fire-times.tsx";
import { ScheduleForm } from "./schedule-form.tsx";
import { Slots } from "./slots.tsx";
import type { Schedule } from "./use-schedules.ts";

const SOURCES = {
  api: "made through the service",
  definition: "its workflow's file says it: change it there",
  saved: "the newest saved version of its workflow says it: change it there",
} as const;
const OVERLAPS = {
  skip: "a slot is skipped while the run of the slot before is under way",
  queue: "a slot waits while the run of the slot before is under way",
  cancel_previous: "a slot cancels the run of the slot before",
} as const;
const CATCH_UPS = {
  none: "of slots that pass while no server runs, none is caught up",
  one: "of slots that pass while no server runs, the last is caught up",
  all: "slots that pass while no server runs are caught up, the last hundred of them",
} as const;
const PAUSED = { paused: "paused", definition_removed: "paused: its definition is gone" } as const;

interface ScheduleDetailProps {
  readonly schedule: Schedule;
  readonly onRemoved: () => void;
}

/** A schedule: when it fires, with which input, what became of its slots, and what can be done with it. */
export function ScheduleDetail({ schedule, onRemoved }: ScheduleDetailProps) {
  const { schedule_id: id, enabled, last_run_id: last } = schedule;
  const change = useDo("PATCH /schedules/{id}");
  const start = useDo("POST /schedules/{id}/run");
  const remove = useDo("DELETE /schedules/{id}");
  const [open, setOpen] = useState<"edit" | "remove">();
  const error = change.error ?? start.error ?? remove.error;
  const begin = () => [change, start, remove].map((each) => each.reset());
  return (
    <div className="grid gap-4">
      <div className="flex flex-wrap gap-2">
        <Button
          kind="main"
          isBusy={start.isPending}
          onClick={() => {
            begin();
            start.mutate({ id });
          }}
        >
          Run now
        </Button>
        <Button
          isBusy={change.isPending}
          onClick={() => {
            begin();
            change.mutate({ id, enabled: !enabled });
          }}
        >
          {enabled ? "Pause" : "Resume"}
        </Button>
        <Button onClick={() => setOpen("edit")}>Edit</Button>
        <Button kind="danger" onClick={() => setOpen("remove")}>
          Remove
        </Button>
      </div>
      {start.data && (
        <p role="status" className="text-ok">
          A run is under way.{" "}
          <Link href={`/runs/${start.data.run_id}`} className="underline">
            See it
          </Link>
        </p>
      )}
      {error !== null && <Problem error={error} />}
      <Facts
        facts={[
          [
            "Starts",
            <Link
              key="workflow"
              href={`/workflows/${encodeURIComponent(schedule.workflow_name)}`}
              className="text-accent underline"
            >
              {schedule.workflow_name}
            </Link>,
          ],
          [
            "State",
            enabled ? (
              <Status key="state" status="enabled" />
            ) : (
              <span key="state" className="text-warn">
                {PAUSED[schedule.disabled_reason ?? "paused"]}
              </span>
            ),
          ],
          [
            "Fires",
            <code key="cron" className="font-mono text-xs">
              {schedule.cron_expression}
            </code>,
          ],
          ["Time zone", schedule.timezone],
          [enabled ? "Next times" : "Would fire", <FireTimes key="times" times={schedule.next_fire_times} />],
          [
            "Last run",
            last === null ? (
              "none yet"
            ) : (
              <Link key="last" href={`/runs/${last}`} className="text-accent underline">
                {last.slice(0, 13)}…
              </Link>
            ),
          ],
          ["Overlap", OVERLAPS[schedule.overlap]],
          ["Missed slots", CATCH_UPS[schedule.catch_up]],
          ...(schedule.jitter_seconds > 0
            ? [["Jitter", `each run starts up to ${schedule.jitter_seconds} s later`] as const]
            : []),
          ["Comes from", SOURCES[schedule.source]],
          ...(schedule.tenant_id === null ? [] : [["Tenant", schedule.tenant_id] as const]),
          ["Changed", <Time key="changed" at={schedule.updated_at} />],
          ["Id", <Id key="id" id={id} whole />],
        ]}
      />
      <section aria-label="Input" className="rounded border border-line p-2.5">
        <h3 className="mb-1 text-xs font-medium text-soft">Input of its runs</h3>
        <ValueView label="the input" value={schedule.input_data} />
      </section>
      {schedule.notify !== null && (
        <section aria-label="Whom it tells" className="rounded border border-line p-2.5">
          <h3 className="mb-1 text-xs font-medium text-soft">Whom it tells what became of its runs</h3>
          <ValueView label="whom it tells" value={schedule.notify} />
        </section>
      )}
      <Slots id={id} workflow={schedule.workflow_name} />
      {open === "edit" && (
        <ScheduleForm schedule={schedule} onClose={() => setOpen(undefined)} onDone={() => setOpen(undefined)} />
      )}
      {open === "remove" && (
        <AskFirst
          title="Remove this schedule?"
          yes="Remove"
          onClose={() => setOpen(undefined)}
          onYes={() => {
            setOpen(undefined);
            begin();
            remove.mutate({ id }, { onSuccess: onRemoved });
          }}
        >
          It never fires again, and what became of its slots is forgotten. Its runs stay.
        </AskFirst>
      )}
    </div>
  );
}
