import type { YamlMap } from "../yaml-node.ts";
import type { ParseContext } from "./parse-context.ts";
import { parseLevel } from "./parse-step.ts";
import { parseTrigger } from "./parse-trigger.ts";
import { costMicroAt, flagAt, mapAt, numberAt, objectAt, textAt, timeLimitMsAt } from "./read-node.ts";
import type { Workflow } from "./workflow.ts";

/** Reads a whole file whose structure has been checked. What cannot be read is left out. */
export function parseWorkflow(root: YamlMap, context: ParseContext): Workflow {
  const description = textAt(root, "description", "name")?.value;
  const trigger = parseTrigger(root, context);
  const maxSteps = numberAt(root, "maxSteps");
  const timeoutMs = timeLimitMsAt(root, "timeout");
  const inputSchema = parseInputSchema(root, context);
  const maxCostMicro = costMicroAt(root, "maxCostUsd", "max_cost_usd");
  return {
    id: textAt(root, "workflowId")?.value ?? "",
    ...(description === undefined ? {} : { description }),
    ...(trigger === undefined ? {} : { trigger }),
    level: parseLevel(root, context),
    ...(maxSteps === undefined ? {} : { maxSteps }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(inputSchema === undefined ? {} : { inputSchema }),
    deadLetter: flagAt(root, "deadLetter") ?? true,
    ...(maxCostMicro === undefined ? {} : { maxCostMicro }),
  };
}

function parseInputSchema(root: YamlMap, { schemas }: ParseContext) {
  const at = mapAt(root, "inputSchema");
  const schema = objectAt(root, "inputSchema");
  if (at !== undefined && schema !== undefined) schemas.push({ key: "inputSchema", at, schema });
  return schema;
}
