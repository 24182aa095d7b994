import type { ErrorCode } from "../../core/errors/error-table.ts";
import { isStorageFailure } from "../../core/errors/is-storage-failure.ts";
import { isPawlError } from "../../core/errors/pawl-error.ts";
import type { Problem } from "../../core/errors/problem.ts";
import { writeExact } from "../../core/exact-json.ts";
import type { Expr } from "../../core/expressions/expr.ts";
import { remedyOf, traitsOf } from "../../core/graph/dialects.ts";
import type { CallStep, Flow, Place, Step, TaskStep } from "../../core/graph/graph.ts";
import { flowsInside } from "../../core/graph/steps-within.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { grantOf } from "../../core/trust/grant.ts";
import { suggest } from "../../dialects/did-you-mean.ts";
import { renderProblem } from "../../dialects/render-problem.ts";
import type { CompiledDefinition, ShownProblem } from "../../hosts/compiled-definition.ts";
import type { Ports } from "../application/ports.ts";
import { definitionHasErrors } from "../definitions/compile-text.ts";
import { listWorkflowNames } from "../definitions/definition-files.ts";
import { registryOf } from "../definitions/load-options.ts";
import { executorKindsOf } from "./executor-kinds.ts";
import { findCalled } from "./resolve-call.ts";

/** A run that would begin. */
interface Beginning {
  readonly definition: CompiledDefinition;
  readonly input: JsonObject;
  readonly options: JsonObject;
}

type NamedTool = Parameters<Ports["findToolProblem"]>[0];
type NeededBy = Pick<Ports, "appDir" | "config" | "library" | "service" | "findToolProblem" | "tenantId">;

/** A server that takes longer to tell its tools is believed to have them. */
const TOOLS_WITHIN_MS = 5_000;
const MAX_WORKFLOWS = 100;

/**
 * Looks for the workflows and tools that the steps name, and the steps of those workflows, before anything is spent. Throws
 * `DEFINITION_INVALID` with all that are missing; where slips are allowed they are warnings, which are returned. Names that
 * values make are left to the run.
 */
export async function checkNeeds(app: NeededBy, beginning: Beginning): Promise<readonly ShownProblem[]> {
  const { kinds, hasCalls } = executorKindsOf(beginning.definition.graph);
  const hasTools = kinds.has("mcp") || (kinds.has("agent") && isInline(beginning));
  if (!hasCalls && !hasTools) return [];
  const { isLenient, problems } = await new Needs(app, beginning).collect();
  if (problems.length > 0 && !isLenient) throw definitionHasErrors(beginning.definition.source, problems);
  return problems;
}

class Needs {
  readonly #app: NeededBy;
  readonly #beginning: Beginning;
  readonly #isLenient: boolean;
  #tools: AbortSignal | undefined;
  readonly #hasEndpoint: boolean;
  readonly #seen = new Set<string>();
  readonly #problems: ShownProblem[] = [];

  constructor(app: NeededBy, beginning: Beginning) {
    this.#app = app;
    this.#beginning = beginning;
    const { uhlp, definitions } = app.config.settings;
    this.#isLenient = definitions.lenient;
    const { context } = beginning.input;
    const ofRequest = isJsonObject(context) ? context["mcp_endpoint"] : undefined;
    this.#hasEndpoint = uhlp.mcp_endpoint !== undefined || ofRequest !== undefined;
  }

  async collect(): Promise<{ readonly isLenient: boolean; readonly problems: readonly ShownProblem[] }> {
    await this.#look(this.#beginning.definition);
    return { isLenient: this.#isLenient, problems: this.#problems.sort((a, b) => this.#compare(a, b)) };
  }

  /** Those of the definition that is started come first, each file's by line. */
  #compare({ place: a }: ShownProblem, { place: b }: ShownProblem): number {
    const own = this.#beginning.definition.source;
    if (a?.file !== b?.file)
      return a?.file === own ? -1 : b?.file === own ? 1 : (a?.file ?? "") < (b?.file ?? "") ? -1 : 1;
    return (a?.line ?? 0) - (b?.line ?? 0);
  }

  async #look(definition: CompiledDefinition): Promise<void> {
    await Promise.all(
      placedSteps(definition.graph.flow).map(async (step) => {
        if (step.kind === "call") await this.#lookAtCall(step, definition);
        if (step.kind === "task" && step.executor === "mcp") await this.#lookAtTool(step, definition);
        if (step.kind === "task" && step.executor === "agent") await this.#lookAtAgent(step, definition);
      }),
    );
  }

  async #lookAtCall(step: CallStep, definition: CompiledDefinition): Promise<void> {
    const workflow = literalOf(step.workflow);
    if (workflow === undefined || !traitsOf(definition.graph).checksCalls) return;
    const key = writeExact(workflow);
    if (this.#seen.has(key) || this.#seen.size >= MAX_WORKFLOWS) return;
    this.#seen.add(key);
    const { options } = this.#beginning;
    try {
      const grant = grantOf(definition.graph.settings);
      const { tenantId } = this.#app;
      const called = await findCalled(this.#app, workflow, { options, grant, tenantId, onlyNames: false });
      await this.#look(called);
    } catch (error) {
      if (!isPawlError(error) || isStorageFailure(error)) throw error;
      const { code, message, details } = error;
      this.#report(step, definition, { code, message, remedy: (await this.#suggest(code, workflow)) ?? error.remedy });
      for (const each of problemsOf(details)) this.#problems.push(each);
    }
  }

  /** The name that was likely meant. */
  async #suggest(code: ErrorCode, workflow: Json): Promise<string | undefined> {
    if (code !== "WORKFLOW_NOT_FOUND" || typeof workflow !== "string") return undefined;
    return suggest(workflow, await listWorkflowNames(registryOf(this.#app)));
  }

  async #lookAtTool(step: TaskStep, definition: CompiledDefinition): Promise<void> {
    const { tool, server } = fieldsOf(step.input);
    const isElsewhere = this.#hasEndpoint && server === undefined;
    if (typeof tool !== "string" || tool === "" || server === null || isElsewhere) return;
    await this.#findTool({ tool, ...(typeof server === "string" ? { server } : {}) }, step, definition);
  }

  /** An agent server has tools of its own; an agent of Pawl has those that its step lists, some of them built in. */
  async #lookAtAgent(step: TaskStep, definition: CompiledDefinition): Promise<void> {
    const { tools } = fieldsOf(step.input);
    if (!isInline(this.#beginning) || !Array.isArray(tools)) return;
    const named = tools.filter((tool) => typeof tool === "string").filter((tool) => tool.includes("."));
    await Promise.all(named.map((tool) => this.#findTool({ tool }, step, definition)));
  }

  async #findTool(named: NamedTool, step: TaskStep, definition: CompiledDefinition): Promise<void> {
    this.#tools ??= AbortSignal.timeout(TOOLS_WITHIN_MS);
    const found = await this.#app.findToolProblem(named, this.#tools);
    if (found !== undefined)
      this.#report(step, definition, { ...found, remedy: remedyOf(found.code, definition.graph.dialect) });
  }

  #report(
    { id, place }: Step,
    { text, source }: CompiledDefinition,
    { code, message, remedy }: Pick<Problem, "code" | "message" | "remedy">,
  ): void {
    const problem: Problem = {
      code,
      severity: this.#isLenient ? "warning" : "error",
      message: `Step '${id}': ${message}`,
      remedy,
      ...(place === undefined ? {} : { place: { ...(source === undefined ? {} : { file: source }), ...place } }),
    };
    this.#problems.push({ ...problem, rendered: renderProblem(problem, text) });
  }
}

function isInline({ options }: Pick<Beginning, "options">): boolean {
  return options["agent"] === "inline";
}

/** Every step, in its own place or in that of the step around it. */
function placedSteps(flow: Flow, around?: Place): readonly Step[] {
  return flow.steps.flatMap((step) => {
    const place = step.place ?? around;
    const inner = flowsInside(step).flatMap((inside) => placedSteps(inside.flow, place));
    return [{ ...step, ...(place === undefined ? {} : { place }) }, ...inner];
  });
}

/** The called workflow's own problems are in the error that says that it cannot be used. */
function problemsOf(details: Json | undefined): readonly ShownProblem[] {
  const listed = isJsonObject(details) ? details["problems"] : undefined;
  // They were made of problems, and described for answers.
  return Array.isArray(listed) ? (listed as unknown as readonly ShownProblem[]) : [];
}

function literalOf(expr: Expr | undefined): Json | undefined {
  return expr?.op === "literal" ? expr.value : undefined;
}

/** Fixed values by name. `null`: a value that the run makes. */
function fieldsOf(input: Expr): { readonly [name: string]: Json | undefined } {
  if (input.op !== "object") return {};
  const entries = Object.entries(input.entries);
  return Object.fromEntries(entries.map(([name, expr]) => [name, expr.op === "literal" ? expr.value : null]));
}
