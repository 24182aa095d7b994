import { useEffect, useState } from "react";
import { useAgainAt } from "../../data/use-again-at.ts";
import { type ItemOf, useList } from "../../data/use-list.ts";

export type Schedule = ItemOf<"GET /schedules">;

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
  const { items } = list;
  useEffect(() => setNames(new Set(items.map(({ workflow_name }) => workflow_name))), [items]);
  const times = items.map(({ next_fire_at: next }) => next);
  useAgainAt(list, times);
  return list;
}
