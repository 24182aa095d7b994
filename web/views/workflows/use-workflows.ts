import { useQuery } from "@tanstack/react-query";
import type { ApiError, OutputOf } from "pawl/client";
import { useServer } from "../../data/server.tsx";
import { queryKeyOf } from "../../data/use-call.ts";

export type WorkflowSummary = OutputOf<"GET /workflows">["items"][number];

const PAGE = 200;

/** Every workflow, page by page: the list is searched here. */
export function useWorkflows() {
  const { client } = useServer();
  return useQuery<readonly WorkflowSummary[], ApiError>({
    queryKey: queryKeyOf("GET /workflows", { limit: PAGE }),
    queryFn: async () => {
      const found: WorkflowSummary[] = [];
      let cursor: string | undefined;
      do {
        const page = await client.call("GET /workflows", { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) });
        found.push(...page.items);
        cursor = page.next_cursor ?? undefined;
      } while (cursor !== undefined);
      return found;
    },
  });
}
