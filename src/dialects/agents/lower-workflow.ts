import type { Expr } from "../../core/expressions/expr.ts";
import type { CallStep, DagFlow, Place, RespondStep, Step, TaskStep } from "../../core/graph/graph.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { call, inputAt, literal, outputOf } from "../build-expr.ts";
import type { AgentDefinition, AgentSettingName, ModelDefinition, Setting, StepDefinition } from "./agents-file.ts";
import type { GraphWorkflow, WorkflowDefinition } from "./parse.ts";
import type { Targets } from "./resolve-steps.ts";

export interface LowerContext {
  readonly models: readonly ModelDefinition[];
  readonly targets: Targets;
  /** Agents that were lowered before: steps of the same agent share its settings. */
  readonly agents: Map<AgentDefinition, JsonObject>;
  /** The word of the workflow that is lowered, or of one around it. It wins over those of the agents. */
  readonly includesHistory?: boolean | undefined;
}

interface Around {
  /** The question to it. */
  readonly message: Expr;
  /** Ids of the steps around it: an inner step of the same id would hide an outer one. */
  readonly taken: ReadonlySet<string>;
}

/**
 * The steps of a workflow and a last one that shapes its result, `{final_message, status}`. A workflow of the same file is a
 * flow inside: it is pinned with the run.
 */
export function lowerWorkflow(
  workflow: WorkflowDefinition,
  surrounding: LowerContext,
  around: Around = OUTERMOST,
): DagFlow {
  const context = { ...surrounding, includesHistory: workflow.includesHistory ?? surrounding.includesHistory };
  return workflow.kind === "linear" ? lowerSequence(workflow, context, around) : lowerGraph(workflow, context, around);
}

export function lowerLoneAgent(agent: AgentDefinition, context: LowerContext, place: Place): DagFlow {
  const step = toTask(agent, { id: agent.name, place, message: MESSAGE }, context);
  return { kind: "dag", steps: [step], result: step.id };
}

const MESSAGE = inputAt("message");
const SESSION_ID = inputAt("session_id");
const OUTERMOST: Around = { message: MESSAGE, taken: new Set() };

function lowerSequence(
  { steps }: Extract<WorkflowDefinition, { kind: "linear" }>,
  context: LowerContext,
  { message, taken }: Around,
): DagFlow {
  const ids = new Ids(taken);
  const lowered: Step[] = [];
  let asked: Expr = message;
  for (const [index, step] of steps.entries()) {
    const id = ids.take(step.name);
    const after = lowered.slice(-1).map((previous) => previous.id);
    lowered.push(lowerStep(step, { id, after, message: asked, number: index + 1, ids }, context));
    asked = answerOf(step, id, context);
  }
  return withResult(lowered, { final: asked, after: lowered.slice(-1), ids });
}

/** Answers of several predecessors are joined, in the order of the edges. */
function lowerGraph(workflow: GraphWorkflow, context: LowerContext, { message, taken }: Around): DagFlow {
  const { nodes, edges } = workflow;
  const ids = new Ids(taken);
  const idOf = new Map(nodes.map((node) => [node.id, ids.take(node.id)]));
  const answers = new Map(nodes.map((node) => [node.id, answerOf(node, idOf.get(node.id) ?? "", context)]));
  const lowered = nodes.map((node, index) => {
    const before = [...new Set(edges.flatMap(({ from, to }) => (to.name === node.id ? [from.name] : [])))];
    const after = before.map((id) => idOf.get(id) ?? "");
    const asked = before.length === 0 ? message : joined(before.map((id) => answers.get(id) ?? message));
    return lowerStep(node, { id: idOf.get(node.id) ?? "", after, message: asked, number: index + 1, ids }, context);
  });
  const last = nodes.filter(({ id }) => !edges.some(({ from }) => from.name === id));
  const final = last.length === 0 ? message : joined(last.map(({ id }) => answers.get(id) ?? message));
  const after = lowered.filter(({ id }) => last.some((node) => idOf.get(node.id) === id));
  return withResult(lowered, { final, after, ids });
}

function joined(texts: readonly Expr[]): Expr {
  const [only] = texts;
  if (texts.length === 1 && only !== undefined) return only;
  return call("join", { op: "list", items: texts }, literal("\n\n"));
}

interface Ending {
  readonly final: Expr;
  readonly after: readonly Step[];
  readonly ids: Ids;
}

function withResult(steps: readonly Step[], { final, after, ids }: Ending): DagFlow {
  const status = steps.length === 0 ? "completed_empty" : "completed";
  const respond: RespondStep = {
    id: ids.take("result"),
    ...(after.length === 0 ? {} : { after: after.map(({ id }) => id) }),
    kind: "respond",
    value: { op: "object", entries: { final_message: final, status: literal(status) } },
  };
  return { kind: "dag", steps: [...steps, respond] };
}

interface StepPlan {
  readonly id: string;
  readonly after: readonly string[];
  readonly message: Expr;
  /** In its workflow, from 1. */
  readonly number: number;
  readonly ids: Ids;
}

function lowerStep(step: StepDefinition, plan: StepPlan, context: LowerContext): Step {
  const { id, message, ids } = plan;
  const after = plan.after.length === 0 ? {} : { after: plan.after };
  const target = context.targets.get(step);
  if (target?.kind === "agent") {
    const task = toTask(target.agent, { id, place: step.place, message, number: plan.number }, context);
    return { ...task, ...after };
  }
  if (target?.kind === "own") {
    const flow = lowerWorkflow(target.workflow, context, { message, taken: ids.taken });
    const { description, timeoutMs, maxCostMicro } = target.workflow;
    return { id, description, place: step.place, ...after, timeoutMs, maxCostMicro, kind: "flow", flow };
  }
  const call: CallStep = {
    id,
    place: step.place,
    ...after,
    kind: "call",
    workflow: literal(step.name),
    input: { op: "object", entries: { message, session_id: SESSION_ID } },
    terms: literal({ asks: "message" }),
  };
  return call;
}

interface TaskPlan {
  readonly id: string;
  readonly place: Place;
  readonly message: Expr;
  /** Absent: the agent is asked alone, and may answer without a text. */
  readonly number?: number;
}

function toTask(agent: AgentDefinition, { id, place, message, number }: TaskPlan, context: LowerContext): TaskStep {
  const timeoutMs = timeoutOf(agent);
  const maxCostMicro = maxCostOf(agent);
  const asStep: { readonly [name: string]: Expr } =
    number === undefined ? {} : { step: literal(number), needs_text: literal(true) };
  return {
    id,
    description: agent.description,
    place,
    kind: "task",
    executor: "inline",
    timeoutMs,
    maxCostMicro,
    input: {
      op: "object",
      entries: {
        agent: literal(settingsOf(agent, context)),
        message,
        session_id: SESSION_ID,
        ...asStep,
      },
    },
  };
}

function settingsOf(agent: AgentDefinition, { agents, models, includesHistory }: LowerContext): JsonObject {
  const settings = agents.get(agent) ?? lowerAgent(agent, models);
  agents.set(agent, settings);
  return includesHistory === undefined ? settings : { ...settings, include_history: includesHistory };
}

/**
 * The answer of a step to the next: of an agent its first text block, of a workflow its final message. One of another dialect may
 * answer with anything: a text as it is, of an object `final_message`, `message` or `text`, and all else as JSON.
 */
function answerOf(step: StepDefinition, id: string, { targets }: LowerContext): Expr {
  const target = targets.get(step);
  if (target?.kind === "agent") return outputOf(id, "text");
  if (target?.kind === "own") return outputOf(id, "final_message");
  const candidates = ["final_message", "message", "text"].map((field) => outputOf(id, field));
  return call("toString", call("coalesce", ...candidates, outputOf(id), literal("")));
}

/** Ids of steps by their names: one that is taken gets a number. */
class Ids {
  readonly #own = new Set<string>();
  readonly #outer: ReadonlySet<string>;
  readonly #next = new Map<string, number>();

  constructor(outer: ReadonlySet<string>) {
    this.#outer = outer;
  }

  /** Seen from inside a step of this workflow. */
  get taken(): ReadonlySet<string> {
    return new Set([...this.#outer, ...this.#own]);
  }

  take(name: string): string {
    let id = name;
    for (let number = this.#next.get(name) ?? 2; this.#own.has(id) || this.#outer.has(id); number += 1) {
      id = `${name} (${number})`;
      this.#next.set(name, number + 1);
    }
    this.#own.add(id);
    return id;
  }
}

/** An agent's settings together with those of its `llm` component, which stand behind its own. */
export interface EffectiveSetting extends Setting {
  readonly name: AgentSettingName;
  /** The component that it comes from. */
  readonly model?: string;
}

export function effectiveSettings(
  agent: AgentDefinition,
  models: readonly ModelDefinition[],
): readonly EffectiveSetting[] {
  const model = models.find(({ name }) => name === agent.modelId?.name);
  const behind = [...(model?.settings ?? [])].filter(([name]) => !agent.settings.has(name));
  return [
    ...[...agent.settings].map(([name, setting]): EffectiveSetting => ({ name, ...setting })),
    ...behind.map(([name, setting]): EffectiveSetting => ({ name, ...setting, model: model?.name ?? "" })),
  ];
}

/** An agent for the executor. Its time-out is the step's. */
function lowerAgent(agent: AgentDefinition, models: readonly ModelDefinition[]): JsonObject {
  const settings = effectiveSettings(agent, models).filter(({ name }) => name !== "timeout");
  return Object.fromEntries<Json>([["name", agent.name], ...settings.map(({ name, value }) => [name, value] as const)]);
}

function timeoutOf(agent: AgentDefinition): number | undefined {
  const seconds = agent.settings.get("timeout")?.value;
  return typeof seconds === "number" ? Math.max(1, Math.round(seconds * 1_000)) : undefined;
}

function maxCostOf(agent: AgentDefinition): number | undefined {
  const usd = agent.settings.get("max_cost_usd")?.value;
  return typeof usd === "number" ? Math.round(usd * 1_000_000) : undefined;
}
