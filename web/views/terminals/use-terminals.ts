import { useCall } from "../../data/use-call.ts";
import { type ItemOf, useList } from "../../data/use-list.ts";

export type OpenTerminal = ItemOf<"GET /terminals">;
export type Recording = ItemOf<"GET /recordings">;

/** The open terminals. Steps open and close them, and so do people and programs that no event tells of. */
export function useTerminals() {
  return useCall(
    "GET /terminals",
    {},
    { when: ({ event }) => event.startsWith("step.") || event.startsWith("run."), everyMs: 2_000 },
  );
}

/** What was recorded, the latest first; of one run where that is named. */
export function useRecordings(run: string) {
  return useList("GET /recordings", run === "" ? {} : { run_id: run }, {
    when: ({ event }) => event === "run.finished",
  });
}
