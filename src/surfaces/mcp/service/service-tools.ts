import { loadOperations } from "../../../operations/operations.ts";
import { CARE_TOOLS } from "./care-tools.ts";
import { toServiceTool } from "./operation-tool.ts";
import { RUN_TOOLS } from "./run-tools.ts";
import type { ServiceTool } from "./service-tool.ts";
import { START_TOOLS } from "./start-tools.ts";
import { WORKFLOW_TOOLS } from "./workflow-tools.ts";

/** Every tool of `pawl mcp`, in the order in which they are listed. */
export const SERVICE_TOOLS: readonly ServiceTool[] = [
  ...START_TOOLS,
  ...RUN_TOOLS,
  ...WORKFLOW_TOOLS,
  ...CARE_TOOLS,
  ...(await loadOperations()).flatMap((operation) => toServiceTool(operation) ?? []),
];
