import type { Expr } from "../../core/expressions/expr.ts";
import { findRepeat } from "../../core/graph/describe-trigger.ts";
import type { Flow, Graph, MachineFlow, Step, Trigger } from "../../core/graph/graph.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { Compiled, LoadOptions } from "../definition.ts";
import type { ProblemList } from "../problem-list.ts";
import { toRunLimits } from "../run-limits.ts";
import { checkLater } from "../shape/check-later.ts";
import { Reader, TOP } from "../shape/shape.ts";
import { placeOfFault } from "../source/place-in-scalar.ts";
import { toExcerpt } from "../source/printable.ts";
import { keyOf, type YamlNode } from "../source/yaml-node.ts";
import { freeId, type LowerContext } from "./lower/lower-context.ts";
import { lowerConcurrency, lowerFlow, lowerRate } from "./lower/lower-flow.ts";
import { namesGiven } from "./lower/lower-work.ts";
import { findTemplateFault, findUnfilledNames, remedyForUnfilled } from "./prompts/check-template.ts";
import {
  type Block,
  blocksOf,
  type Level,
  type StepBody,
  type StepDefinition,
  toLevel,
  toOnError,
} from "./shape/step-shape.ts";
import { rules } from "./shape/texts.ts";
import { type ReadWorkflow, workflow as shape } from "./shape/workflow-shape.ts";

const MAX_STEPS = 500;
const DEFAULT_MAX_VISITS = 20;

/** Compiles a UHLP file: read, lower. Never throws on what a file may hold. */
export async function compileUhlp(
  root: YamlNode,
  problems: ProblemList,
  { maxSteps = DEFAULT_MAX_VISITS }: LoadOptions,
): Promise<Compiled> {
  const reader = new Reader({ problems, rules });
  const workflow = shape.read(root, TOP, reader);
  // Nothing at the top is needed so much that the rest could not be read without.
  if (workflow === undefined) throw new Error("A map is read as a workflow.");
  const level = { ...toLevel(workflow), ...toOnError(workflow.onError, workflow.at) };
  const steps = listSteps(level);
  const tooMany = steps[MAX_STEPS];
  if (tooMany !== undefined) {
    const message = `The workflow has more than ${MAX_STEPS} steps, those inside of others included.`;
    problems.error({ code: "TOO_MANY_STEPS", at: tooMany.at, message });
    return { problems: problems.toArray() };
  }
  const stepIds = new Set(steps.map(({ id }) => id));
  const lowering: LowerContext = {
    workflowId: workflow.workflowId?.value ?? "",
    startedBy: new Set(triggersOf(workflow).flatMap((each) => (each.kind === "event" ? [each.event] : []))),
    ...(workflow.references === "lenient" ? {} : { payload: workflow.inputSchema, outputs: declaredOutputs(steps) }),
    problems,
    maxSteps: workflow.maxSteps ?? maxSteps,
    stepIds,
    runVariables: new Set([workflow, ...steps.map(({ body }) => body)].flatMap(namesSetBy)),
    outputId: workflow.output === undefined ? undefined : freeId("output", { stepIds }),
    files: [],
    undos: [],
    variables: new Set(),
    readsLastError: false,
    conditionCount: 0,
    stepCount: 0,
    looks: 0,
    isTooLarge: false,
  };
  const graph = lowerWorkflow(workflow, level, lowering);
  await checkLater(reader);
  await checkPrompts(reader);
  await checkNames(steps, reader);
  if (graph === undefined || problems.hasErrors) return { problems: problems.toArray() };
  return { graph, files: lowering.files, problems: problems.toArray() };
}

function triggersOf({ trigger, triggers = [] }: ReadWorkflow): readonly Trigger[] {
  return trigger === undefined ? triggers : [trigger, ...triggers];
}

/** Names under `variables`, of the workflow or of a `set` step. */
function namesSetBy(body: StepBody | ReadWorkflow): readonly string[] {
  return body !== undefined && "variables" in body ? [...(body.variables?.entries.keys() ?? [])] : [];
}

/** What is declared of outputs: by a schema, or by the names that a step gives to what it puts out. */
function declaredOutputs(steps: readonly StepDefinition[]): ReadonlyMap<string, JsonObject> {
  return new Map(
    steps.flatMap(({ id, body }) => {
      const schema = body && outputSchemaOf(body);
      return schema === undefined ? [] : [[id, schema] as const];
    }),
  );
}

function outputSchemaOf(body: NonNullable<StepBody>): JsonObject | undefined {
  if ("outputMapping" in body && body.outputMapping !== undefined)
    return body.outputMapping.kind === "map" ? onlyWith(body.outputMapping.entries.keys()) : undefined;
  if ("subtype" in body) {
    if (body.subtype === "emit") return onlyWith(["runs", "waiting"]);
    if (body.subtype === "start") return onlyWith(["run_id", "workflow"]);
    return body.subtype === "set" ? onlyWith(namesSetBy(body)) : undefined;
  }
  if (body.type === "http") {
    const ofPages = body.pages === undefined ? [] : ["pages", "hasMore"];
    return body.outputSchema ?? onlyWith(["status", "headers", "body", ...ofPages]);
  }
  const schema = body.type === "llm" ? body.target?.options["outputSchema"] : undefined;
  return isJsonObject(schema) ? schema : undefined;
}

function onlyWith(names: Iterable<string>): JsonObject {
  return { properties: Object.fromEntries([...names].map((name) => [name, {}])), additionalProperties: false };
}

/** Those inside of blocks follow the step that they belong to. */
function listSteps({ steps, onError }: Level): readonly StepDefinition[] {
  const inside = (block: Block) => (block.kind === "written" ? listSteps(block.level) : []);
  const all = [...steps.values()].flatMap((step) => [step, ...blocksOf(step.body).flatMap(inside)]);
  return onError === undefined ? all : [...all, ...inside(onError.block)];
}

/** Of the prompts that are written in the file itself. Those of prompt files are checked when these are read. */
async function checkNames(steps: readonly StepDefinition[], { source, problems }: Reader): Promise<void> {
  for (const { body } of steps) {
    const prompt = body?.type === "llm" ? body.target?.prompt : undefined;
    if (body?.type !== "llm" || prompt === undefined) continue;
    const given = namesGiven(body);
    for (const { name, fault } of await findUnfilledNames(prompt.value, given)) {
      const at = placeOfFault(prompt, fault, source) ?? prompt.at;
      const message = `The prompt reads \`${name}\`, which nothing fills.`;
      problems.unknown(name, given, {
        code: "PROMPT_NAME_UNFILLED",
        at,
        message,
        remedy: remedyForUnfilled(name, given),
      });
    }
  }
}

async function checkPrompts({ later, source, problems }: Reader): Promise<void> {
  for (const each of later) {
    const fault = each.kind === "prompt" ? await findTemplateFault(each.text.value) : undefined;
    if (each.kind !== "prompt" || fault === undefined) continue;
    const at = placeOfFault(each.text, fault, source) ?? each.text.at;
    problems.error({ code: "PROMPT_INVALID", at, message: `The prompt cannot be read: ${fault.reason}.` });
  }
}

/** Turns a workflow into the graph that runs. What is wrong between steps and in expressions is reported on the way. */
function lowerWorkflow(workflow: ReadWorkflow, level: Level, context: LowerContext): Graph | undefined {
  const triggers = triggersOf(workflow);
  const [what, said = ""] = findRepeat(triggers) ?? [];
  if (what !== undefined) {
    const message = `Two triggers have the same ${what}: \`${toExcerpt(said)}\`.`;
    const remedy = "Change one of them, or leave it out.";
    context.problems.error({ code: "VALUE_INVALID", at: keyOf(workflow.at, "triggers"), message, remedy });
  }
  const { name, description, inputSchema, maxCostUsd, timeout: timeoutMs, deadLetter, references } = workflow;
  const flow = lowerFlow(level, workflow, context);
  const concurrency = lowerConcurrency(workflow, level, context);
  const rate = lowerRate(workflow, level, context);
  if (flow === undefined) return undefined;
  return {
    format: 1,
    dialect: "uhlp",
    name: context.workflowId,
    description: description?.value || name?.value || undefined,
    input: { declared: [], defaults: {}, schema: inputSchema },
    flow: context.readsLastError ? keepLastError(flow) : flow,
    limits: { ...toRunLimits(workflow.limits, maxCostUsd), ...(timeoutMs === undefined ? {} : { timeoutMs }) },
    ending: { deadLetter },
    ...(triggers.length === 0 ? {} : { triggers }),
    ...(concurrency && { concurrency }),
    ...(rate && { rate }),
    envAllowed: [...context.variables],
    settings: references === undefined ? {} : { references },
  };
}

/** `workflow.lastError`: every step that fails leaves its failure behind. Only where it is read: flows pay for it. */
function keepLastError(flow: MachineFlow): MachineFlow {
  return { ...flow, variables: { ...flow.variables, lastError: null }, steps: flow.steps.map(noteFailure) };
}

const FAILURE: Expr = { op: "path", root: "failure", path: [] };

function noteFailure(step: Step): Step {
  const inside = {
    ...(step.kind === "flow" ? { flow: noteFailures(step.flow) } : {}),
    ...(step.catch === undefined ? {} : { catch: noteFailures(step.catch) }),
    ...(step.finally === undefined ? {} : { finally: noteFailures(step.finally) }),
  };
  const canFail = step.kind !== "set" && step.kind !== "respond";
  return { ...step, ...inside, ...(canFail ? { assign: { ...step.assign, lastError: FAILURE } } : {}) } as Step;
}

function noteFailures(flow: Flow): Flow {
  return { ...flow, steps: flow.steps.map(noteFailure) } as Flow;
}
