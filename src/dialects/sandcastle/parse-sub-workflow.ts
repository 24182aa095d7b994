import type { MapReader, Text } from "../map-reader.ts";
import { isNull } from "../source/yaml-node.ts";
import type { ParseContext } from "./parse-context.ts";
import { type FanOutKeys, parseFanOutKeys } from "./parse-fan-out.ts";
import { type Path, parseReference } from "./reference.ts";
import { parseTemplate, type Template } from "./template.ts";
import { parseValue } from "./value.ts";
import type { SubWorkflowBody, Value } from "./workflow.ts";

interface ParsedSubWorkflow {
  readonly body: SubWorkflowBody;
  readonly timeoutMs: number;
  readonly fanOut: FanOutKeys;
}

export function parseSubWorkflow(
  step: MapReader,
  stepTimeoutMs: number | undefined,
  context: ParseContext,
): ParsedSubWorkflow {
  step.ignore("prompt", "model", "max_turns", "output_schema", "context");
  const block = step.nested("sub_workflow");
  const workflow = parseName(step, block, context);
  const input = block && parseInputMapping(block, context);
  const output = block && parseOutputMapping(block, context);
  const timeoutMs = block?.durationMs("timeout") ?? stepTimeoutMs ?? 600_000;
  const fanOut = block === undefined ? NO_KEYS : parseFanOutKeys(block, context);
  block?.reportUnknownKeys("`sub_workflow`");
  const body: SubWorkflowBody = { type: "subWorkflow", workflow, input, output };
  return { body, timeoutMs, fanOut };
}

const NO_KEYS: FanOutKeys = { list: undefined, maxConcurrent: undefined };

function parseName(step: MapReader, block: MapReader | undefined, context: ParseContext): Template {
  const name = block?.text("workflow");
  const isMissing = name === undefined ? !block?.has("workflow") : name.value.trim() === "";
  if (isMissing) {
    const at = (block ?? step).at("workflow");
    const remedy = "Add `sub_workflow: {workflow: NAME}`.";
    context.problems.error({ code: "KEY_MISSING", at, message: "The step names no workflow to run.", remedy });
  }
  return name === undefined ? { parts: [] } : parseTemplate(name, context);
}

function parseInputMapping(block: MapReader, context: ParseContext): ReadonlyMap<string, Value> | undefined {
  const mapping = block.nested("input_mapping");
  if (mapping === undefined) return undefined;
  const value = parseValue(mapping.map, context, { barePaths: true });
  return value.kind === "map" ? value.entries : undefined;
}

/** `name: step.field.more`: a path in the child's outputs, which begin with the id of a step. */
function parseOutputMapping(block: MapReader, context: ParseContext): ReadonlyMap<string, Path> | undefined {
  const mapping = block.nested("output_mapping");
  if (mapping === undefined) return undefined;
  const paths = new Map<string, Path>();
  for (const [name, entry] of mapping.map.entries) {
    const text = isNull(entry.value) ? undefined : mapping.asText(entry.value, "output_mapping");
    const path = text && parseOutputPath(text, context);
    if (path !== undefined) paths.set(name, path);
  }
  return paths;
}

/** `steps.a.output.x` says the same as `a.x`. */
function parseOutputPath(text: Text, { problems }: ParseContext): Path | undefined {
  const inner = text.value.trim().replace(/^\{(.*)\}$/s, "$1");
  const whole = parseReference(inner);
  if (whole?.to === "step") return [whole.step, ...whole.path];
  const short = parseReference(`input.${inner}`);
  if (short?.to === "input") return short.path;
  const message = "This is no path into the outputs of the workflow.";
  const remedy = "Write the id of one of its steps, then fields: `summarize.text`.";
  problems.error({ code: "EXPRESSION_INVALID", at: text.at, message, remedy });
  return undefined;
}
