import { loadOperations } from "../../../operations/operations.ts";
import { Submissions } from "../../../operations/start/submit-run.ts";
import { toServiceTool } from "../service/operation-tool.ts";
import type { TerminalTool } from "./terminal-tool.ts";

/** The operations over runs of any workflow, by the names of their tools here. */
const OFFERED = { getRun: "get_run", listRuns: "list_runs", cancelRun: "cancel_run", respondToRun: "respond_to_run" };

/** Tools over runs of any workflow: listed only where they are asked for. */
export async function loadRunTools(): Promise<readonly TerminalTool[]> {
  const stopping = new AbortController().signal;
  const refuse = () => Promise.reject(new Error("These tools start no run."));
  const operations = await loadOperations();
  return Object.entries(OFFERED).flatMap(([id, name]): TerminalTool[] => {
    const operation = operations.find((each) => each.id === id);
    const tool = operation === undefined ? undefined : toServiceTool(operation);
    if (tool === undefined) return [];
    return [
      {
        offered: { ...tool.offered, name },
        perform({ app }, args, call) {
          const submissions = new Submissions({ run: refuse, start: refuse });
          return tool.perform(app, args, { ...call, submissions, stopping });
        },
      },
    ];
  });
}
