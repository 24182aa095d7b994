import { writeExact } from "../../core/exact-json.ts";
import { suggest } from "../did-you-mean.ts";
import type { ProblemList } from "../problem-list.ts";
import { toExcerpt } from "../source/printable.ts";
import type { AgentDefinition, StepDefinition } from "./agents-file.ts";
import type { AgentsFile, WorkflowDefinition } from "./parse.ts";

/** The agent or workflow that a step names. */
type Target =
  | { readonly kind: "agent"; readonly agent: AgentDefinition }
  /** A workflow of the same file becomes part of the graph, so that it is pinned with it. */
  | { readonly kind: "own"; readonly workflow: WorkflowDefinition }
  /** A workflow of the application, in any dialect, is called. */
  | { readonly kind: "registered"; readonly name: string };

export type Targets = ReadonlyMap<StepDefinition, Target>;

export interface Surroundings {
  /** Agents of the application beside the file's own. */
  readonly otherAgents: readonly AgentDefinition[];
  /** Names of those that cannot be used, with the files that they stand in. */
  readonly brokenAgents: ReadonlyMap<string, string>;
  hasWorkflow(name: string): Promise<boolean>;
}

/** Finds what each step of each workflow names: in the file, among the application's agents, then among its workflows. */
export async function resolveSteps(file: AgentsFile, around: Surroundings, problems: ProblemList): Promise<Targets> {
  const resolver = new Resolver(file, around, problems);
  const targets = new Map<StepDefinition, Target>();
  for (const workflow of file.workflows) {
    for (const step of stepsOf(workflow)) {
      const target = await resolver.find(workflow, step);
      if (target !== undefined) targets.set(step, target);
    }
  }
  return targets;
}

export function stepsOf(workflow: WorkflowDefinition): readonly StepDefinition[] {
  return workflow.kind === "linear" ? workflow.steps : workflow.nodes;
}

class Resolver {
  readonly #file: AgentsFile;
  readonly #around: Surroundings;
  readonly #problems: ProblemList;
  readonly #agents: ReadonlyMap<string, AgentDefinition>;
  readonly #workflows: ReadonlyMap<string, WorkflowDefinition>;
  readonly #registered = new Map<string, Promise<boolean>>();

  constructor(file: AgentsFile, around: Surroundings, problems: ProblemList) {
    this.#file = file;
    this.#around = around;
    this.#problems = problems;
    // The file's own go before those of the application, and the first of two before the second.
    const agents = [...file.agents, ...around.otherAgents].reverse();
    this.#agents = new Map(agents.map((agent) => [agent.name, agent]));
    this.#workflows = new Map([...file.workflows].reverse().map((workflow) => [workflow.name, workflow]));
  }

  async find(workflow: WorkflowDefinition, step: StepDefinition): Promise<Target | undefined> {
    const agent = step.type === "workflow" ? undefined : this.#agents.get(step.name);
    const own = step.type === "agent" ? undefined : this.#workflows.get(step.name);
    if (agent !== undefined && own !== undefined) return this.#reportAmbiguous(step);
    if (agent !== undefined) return { kind: "agent", agent };
    if (own !== undefined) return { kind: "own", workflow: own };
    if (step.type !== "agent" && this.#file.customWorkflows.some((custom) => custom.name === step.name))
      return this.#reportCustom(step);
    if (step.type !== "agent" && (await this.#isRegistered(step.name))) return { kind: "registered", name: step.name };
    return this.#reportUnknown(workflow, step);
  }

  #isRegistered(name: string): Promise<boolean> {
    const asked = this.#registered.get(name) ?? this.#around.hasWorkflow(name);
    this.#registered.set(name, asked);
    return asked;
  }

  #reportAmbiguous({ name, at }: StepDefinition): undefined {
    const message = `\`${toExcerpt(name)}\` is the name of an agent and of a workflow.`;
    const quoted = writeExact(toExcerpt(name));
    const remedy = `Write \`{"name": ${quoted}, "type": "agent"}\`, or the same with \`"workflow"\`.`;
    this.#problems.error({ code: "NAME_TAKEN_TWICE", at, message, remedy });
  }

  #reportCustom({ name, at }: StepDefinition): undefined {
    const message = `\`${toExcerpt(name)}\` is a custom workflow, a Python class, which Pawl does not run.`;
    this.#problems.error({ code: "NOT_SUPPORTED", at, message, remedy: INSTEAD_OF_CUSTOM });
  }

  #reportUnknown(workflow: WorkflowDefinition, { name, type, at }: StepDefinition): undefined {
    const kind = type === "workflow" ? "workflow" : "agent";
    const message = `Workflow '${toExcerpt(workflow.name)}' references unknown ${kind} '${toExcerpt(name)}'`;
    this.#problems.error({ code: "AGENT_UNKNOWN", at, message, remedy: this.#remedyFor(name, type) });
  }

  #remedyFor(name: string, type: StepDefinition["type"]): string | undefined {
    const broken = type === "workflow" ? undefined : this.#around.brokenAgents.get(name);
    if (broken !== undefined) return `${broken} has problems: see them with \`pawl agents validate\`.`;
    if (type === "agent" && this.#workflows.has(name)) return "It is a workflow: leave `type` out.";
    if (type === "workflow" && this.#agents.has(name)) return "It is an agent: leave `type` out.";
    const agents = type === "workflow" ? [] : this.#agents.keys();
    const workflows = type === "agent" ? [] : this.#workflows.keys();
    return suggest(name, [...agents, ...workflows]);
  }
}

export const INSTEAD_OF_CUSTOM =
  "Write its sequence as a workflow with `steps`; where it needs code, name a UHLP workflow with a `jit` step there.";
