import { useEffect, useState } from "react";
import { type ItemOf, useList } from "../../data/use-list.ts";

export type Schedule = ItemOf<"GET /schedules">;

const LONGEST_WAIT_MS = 3_600_000;
/** What a slot starts is written a moment later. */
const LATER_MS = 2_000;

/** The schedules, read again when a run of theirs begins or ends, and when the next of them is due. */
export function useSchedules() {
  const [names, setNames] = useState<ReadonlySet<string>>(new Set());
  const list = useList(
    "GET /schedules",
    {},
    {
      isNumbered: true,
      when: ({ event, data }) => (event === "run.started" || event === "run.finished") && names.has(data.workflow_name),
    },
  );
  const { items, refetch } = list;
  useEffect(() => {
    setNames(new Set(items.map(({ workflow_name }) => workflow_name)));
    const due = items.flatMap(({ next_fire_at: next }) => (next === null ? [] : [Date.parse(next)]));
    if (due.length === 0) return;
    const wait = Math.max(0, Math.min(...due) - Date.now()) + LATER_MS;
    const timer = setTimeout(() => void refetch(), Math.min(wait, LONGEST_WAIT_MS));
    return () => clearTimeout(timer);
  }, [items, refetch]);
  return list;
}
