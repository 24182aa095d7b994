import { useState } from "react";
import { useInAddress } from "../../data/use-address.ts";
import { Button } from "../../parts/button.tsx";
import { useKeys } from "../../parts/keys.ts";
import { ListAndDetail } from "../../parts/list-and-detail.tsx";
import { ListPane } from "../../parts/list-pane.tsx";
import { Empty } from "../../parts/loading.tsx";
import { useRowKeys } from "../../parts/row-keys.ts";
import { TwoLineRow } from "../../parts/two-line-row.tsx";
import { Time } from "../../parts/values.tsx";
import { ViewBar } from "../../parts/view-bar.tsx";
import { ScheduleDetail } from "./schedule-detail.tsx";
import { ScheduleForm } from "./schedule-form.tsx";
import { type Schedule, useSchedules } from "./use-schedules.ts";

/** What starts workflows by the clock, and what became of it. */
export function SchedulesView() {
  const list = useSchedules();
  const { items } = list;
  const [id, setId] = useInAddress("id");
  const [isMaking, setMaking] = useState(false);
  const at = useRowKeys({
    count: items.length,
    onOpen: (index) => setId(items[index]?.schedule_id ?? ""),
    onClose: () => setId(""),
  });
  useKeys({ n: () => setMaking(true) });
  const picked = items.find(({ schedule_id }) => schedule_id === id);
  const make = (
    <Button kind="main" hint="n" onClick={() => setMaking(true)}>
      New schedule
    </Button>
  );
  return (
    <>
      <ViewBar title="Schedules" actions={make} />
      <ListAndDetail
        title={picked?.workflow_name}
        onClose={() => setId("")}
        {...(picked && { detail: <ScheduleDetail key={id} schedule={picked} onRemoved={() => setId("")} /> })}
        list={
          <ListPane
            label="Schedules"
            list={list}
            height={52}
            at={at}
            keyOf={({ schedule_id }) => schedule_id}
            row={(each) => <ScheduleRow schedule={each} isPicked={each === picked} onPick={setId} />}
            empty={
              <Empty title="Nothing starts by the clock.">
                Make a schedule here, or write <code className="font-mono text-xs">schedule: "0 6 * * 1-5"</code> into a
                workflow of the application.
              </Empty>
            }
          />
        }
      />
      {isMaking && (
        <ScheduleForm
          onClose={() => setMaking(false)}
          onDone={(made) => {
            setMaking(false);
            setId(made);
          }}
        />
      )}
    </>
  );
}

interface ScheduleRowProps {
  readonly schedule: Schedule;
  readonly isPicked: boolean;
  readonly onPick: (id: string) => void;
}

function ScheduleRow({ schedule, isPicked, onPick }: ScheduleRowProps) {
  const { schedule_id: id, workflow_name: workflow, cron_expression: cron, timezone, enabled } = schedule;
  return (
    <TwoLineRow
      sign={enabled ? "enabled" : "paused"}
      isPicked={isPicked}
      onPick={() => onPick(id)}
      first={{
        title: workflow,
        left: <span className="font-medium">{workflow}</span>,
        right: enabled ? (
          <Time at={schedule.next_fire_at} none="never again" />
        ) : (
          <span className="text-warn">paused</span>
        ),
      }}
      second={{
        title: `${cron} ${timezone}`,
        left: (
          <>
            <span className="font-mono text-xs">{cron}</span> {timezone}
          </>
        ),
        right: schedule.source === "api" ? "" : "from its definition",
      }}
    />
  );
}
