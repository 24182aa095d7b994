import type { RunLimits } from "../../core/graph/graph.ts";
import { toRunLimits } from "../run-limits.ts";
import type { YamlMap } from "../source/yaml-node.ts";
import type { ParseContext } from "./parse-context.ts";
import { parseLevel } from "./parse-step.ts";
import { parseTrigger } from "./parse-trigger.ts";
import { flagAt, mapAt, numberAt, objectAt, textAt, timeLimitMsAt } from "./read-node.ts";
import type { Workflow } from "./workflow.ts";

/** Reads a whole file whose structure has been checked. What cannot be read is left out. */
export function parseWorkflow(root: YamlMap, context: ParseContext): Workflow {
  const description = textAt(root, "description", "name")?.value;
  const trigger = parseTrigger(root, context);
  const maxSteps = numberAt(root, "maxSteps");
  const timeoutMs = timeLimitMsAt(root, "timeout");
  const inputSchema = parseInputSchema(root, context);
  const limits = parseLimits(root);
  return {
    id: textAt(root, "workflowId")?.value ?? "",
    description,
    trigger,
    level: parseLevel(root, context),
    maxSteps,
    inputSchema,
    deadLetter: flagAt(root, "deadLetter") ?? true,
    limits: timeoutMs === undefined ? limits : { ...limits, timeoutMs },
  };
}

/** What is out of its range has been reported. */
function parseLimits(root: YamlMap): RunLimits {
  const limits = mapAt(root, "limits");
  const onExceeded = textAt(limits, "on_exceeded")?.value;
  const beside = numberAt(root, "maxCostUsd", "max_cost_usd");
  return toRunLimits(
    {
      max_cost_usd: numberAt(limits, "max_cost_usd"),
      max_tokens: numberAt(limits, "max_tokens"),
      max_steps: numberAt(limits, "max_steps"),
      max_seconds: numberAt(limits, "max_seconds"),
      on_exceeded: onExceeded === "ask" || onExceeded === "stop" ? onExceeded : undefined,
    },
    beside,
  );
}

function parseInputSchema(root: YamlMap, { schemas }: ParseContext) {
  const at = mapAt(root, "inputSchema");
  const schema = objectAt(root, "inputSchema");
  if (at !== undefined && schema !== undefined) schemas.push({ key: "inputSchema", at, schema });
  return schema;
}
