import type { Server } from "@modelcontextprotocol/server";
import { listRuns } from "../../../operations/runs/list-runs.ts";
import { listSessionIds } from "./list-session-ids.ts";
import type { PerformingParts } from "./perform-tool.ts";

/** The protocol allows no more. */
const MAX_VALUES = 100;

/** Completes names of workflows and ids of runs and sessions, wherever they are arguments. */
export function addCompletion(server: Server, parts: PerformingParts): void {
  server.setRequestHandler("completion/complete", async ({ params: { argument } }) => {
    const known = await listValues(parts, argument.name);
    const matching = known.filter((value) => value.startsWith(argument.value));
    const values = matching.slice(0, MAX_VALUES);
    return { completion: { values, total: matching.length, hasMore: matching.length > values.length } };
  });
}

async function listValues({ app, library }: PerformingParts, argument: string): Promise<readonly string[]> {
  switch (argument) {
    case "name":
      return (await library.list()).map(({ name }) => name);
    case "run_id":
      return (await listRuns(app, { limit: MAX_VALUES })).items.map(({ run_id }) => run_id);
    case "session_id":
      return listSessionIds(app);
    default:
      return [];
  }
}
