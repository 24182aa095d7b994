import { loadOperations } from "../../../operations/operations.ts";
import { toServiceTool } from "./operation-tool.ts";
import type { ServiceTool } from "./service-tool.ts";

/** Every tool of `pawl mcp`, in the order in which they are listed. */
export const SERVICE_TOOLS: readonly ServiceTool[] = (await loadOperations()).flatMap(
  (operation) => toServiceTool(operation) ?? [],
);
