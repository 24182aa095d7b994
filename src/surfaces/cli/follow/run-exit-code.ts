import type { RunSummary } from "../../../operations/runs/run-schemas.ts";

/** How a command ends that followed a run. */
export function runExitCode({ status, error }: Pick<RunSummary, "status" | "error">): number {
  switch (status) {
    case "completed":
      return 0;
    case "partial":
      return 1;
    case "failed":
      return error?.code === "RUN_TIMEOUT" ? 124 : 1;
    case "budget_exceeded":
      return 7;
    case "cancelled":
      return 130;
    case "awaiting_approval":
    case "waiting":
      return 6;
    case "queued":
    case "running":
      return 1;
  }
}
