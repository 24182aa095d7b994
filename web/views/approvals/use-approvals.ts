import type { FeedEvent } from "pawl/client";
import { type ItemOf, useList } from "../../data/use-list.ts";

export type Approval = ItemOf<"GET /approvals">;

/** What changes the open questions: also the end of a run that asks, and one that goes on. */
export const asksOrAnswers = ({ event }: FeedEvent) => event.startsWith("approval.") || event.startsWith("run.");

/** The questions that wait for a person, as they come and go. */
export function useApprovals() {
  return useList("GET /approvals", {}, { isNumbered: true, when: asksOrAnswers });
}
