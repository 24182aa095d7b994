import type { MapReader } from "../map-reader.ts";
import { parseAgent, parseOutputSchema } from "./parse-agent.ts";
import { parseApproval } from "./parse-approval.ts";
import type { ParseContext, StepDefaults } from "./parse-context.ts";
import type { FanOutKeys } from "./parse-fan-out.ts";
import { parseSubWorkflow } from "./parse-sub-workflow.ts";
import { parseWait } from "./parse-wait.ts";
import { parseValue } from "./value.ts";
import type { StepBody } from "./workflow.ts";

interface Given {
  /** The step's own `timeout`. */
  readonly timeoutMs: number | undefined;
  readonly defaults: StepDefaults;
}

interface ParsedBody {
  readonly body: StepBody;
  readonly timeoutMs?: number;
  /** Of the block of the type, where it has such keys. */
  readonly fanOut?: FanOutKeys;
}

/** Reads what is particular to the step's `type`. */
export function parseBody(step: MapReader, given: Given, context: ParseContext): ParsedBody {
  const type = step.has("type") ? step.choice("type", TYPES) : "standard";
  const timeoutMs = given.timeoutMs ?? given.defaults.timeoutMs;
  switch (type) {
    case "standard":
      return { body: parseAgent(step, { ...given.defaults, timeoutMs }, context), timeoutMs };
    case "approval":
      return { body: parseApproval(step, context) };
    case "sub_workflow":
      return parseSubWorkflow(step, given.timeoutMs, context);
    case "wait":
      return { body: { type: "wait", wait: parseWait(step, given.timeoutMs, context) } };
    case "llm":
    case "http":
    case "code":
    case "mcp":
    case "terminal":
      return { body: parseExecutorStep(step, type, context), timeoutMs };
    case "condition":
    case "loop":
      reportNotSupported(step, type, context);
      return toNothing(step);
    case undefined:
      return toNothing(step);
  }
}

const EXECUTORS = ["llm", "http", "code", "mcp", "terminal"] as const;
const TYPES = ["standard", "approval", "sub_workflow", "wait", ...EXECUTORS, "condition", "loop"] as const;

/** The executor gets every key that is not common to all steps, with its templates resolved. */
function parseExecutorStep(step: MapReader, executor: string, context: ParseContext): StepBody {
  const schema = parseOutputSchema(step, context);
  const rest = parseValue(step.rest(), context, { barePaths: false });
  const entries = new Map(rest.kind === "map" ? rest.entries : []);
  if (schema !== undefined) entries.set("output_schema", { kind: "literal", value: schema });
  return { type: "work", executor, input: { kind: "map", entries } };
}

function reportNotSupported(step: MapReader, type: keyof typeof INSTEAD, { problems }: ParseContext): void {
  const message = `\`type: ${type}\` is not supported yet.`;
  problems.error({ code: "NOT_SUPPORTED", at: step.at("type"), message, remedy: INSTEAD[type] });
}

const INSTEAD = {
  condition: "Let the next step's prompt decide, or run one of two workflows.",
  loop: "Use `parallel_over` for a list, or a workflow that is run once per round.",
};

/** Stands for a step that cannot run, so that the others can still be checked. */
function toNothing(step: MapReader): ParsedBody {
  step.rest();
  return { body: { type: "work", executor: "none", input: { kind: "literal", value: null } } };
}
