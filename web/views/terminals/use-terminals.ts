import { useCall } from "../../data/use-call.ts";
import { type ItemOf, useList } from "../../data/use-list.ts";

export type OpenTerminal = ItemOf<"GET /terminals">;
export type Recording = ItemOf<"GET /recordings">;

/** The open terminals, read again when a step of a run begins or ends, as steps open and close them. */
export function useTerminals() {
  return useCall("GET /terminals", {}, { when: ({ event }) => event.startsWith("step.") || event.startsWith("run.") });
}

/** What was recorded, the latest first; of one run where that is named. */
export function useRecordings(run: string) {
  return useList("GET /recordings", run === "" ? {} : { run_id: run }, {
    when: ({ event }) => event === "run.finished",
  });
}
