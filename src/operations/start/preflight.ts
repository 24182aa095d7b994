import { ERRORS, type ErrorCode } from "../../core/errors/error-table.ts";
import { isStorageFailure } from "../../core/errors/is-storage-failure.ts";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import type { Problem } from "../../core/errors/problem.ts";
import { writeExact } from "../../core/exact-json.ts";
import { type Expr, literalOf } from "../../core/expressions/expr.ts";
import { findWrongLists } from "../../core/graph/check-lists.ts";
import { remedyOf, traitsOf } from "../../core/graph/dialects.ts";
import type { ApproveStep, CallStep, Flow, Graph, Place, Step, TaskStep } from "../../core/graph/graph.ts";
import { flowsInside } from "../../core/graph/steps-within.ts";
import { filledText, isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { hasAnswerRules } from "../../core/trust/approvers.ts";
import { grantOf } from "../../core/trust/grant.ts";
import { suggest } from "../../dialects/did-you-mean.ts";
import { renderProblem } from "../../dialects/render-problem.ts";
import type { CompiledDefinition, ShownProblem } from "../../hosts/compiled-definition.ts";
import { neededPrograms } from "../../ports/step-functions.ts";
import type { StartPorts } from "../application/ports.ts";
import { whoAsks } from "../application/who-asks.ts";
import { findLackOfPeople, listPeople } from "../approvals/people.ts";
import { isSimulated, readAskedModel, refuseUnpriced } from "../costs/refuse-unpriced.ts";
import { checkBudgets } from "../costs/shared-budgets.ts";
import { definitionHasErrors } from "../definitions/compile-text.ts";
import { listWorkflowNames } from "../definitions/definition-files.ts";
import type { ReferredDefinition } from "../definitions/find-definition.ts";
import { registryOf } from "../definitions/load-options.ts";
import { limitCost } from "../limits/lower-limits.ts";
import { toMicro } from "../limits/micro-dollars.ts";
import { decideAgent } from "./choose-agent.ts";
import { executorKindsOf } from "./executor-kinds.ts";
import { isMessage } from "./input/read-message.ts";
import { narrowDefinition } from "./narrow-definition.ts";
import { findCalled } from "./resolve-call.ts";
import { toGrantOptions } from "./run-grants.ts";

/** A definition, the input in the form that its dialect reads, and where it comes from. */
export interface Startable extends ReferredDefinition {
  readonly input: JsonObject;
  /** The step that it starts at instead of its own first. */
  readonly startAt?: string;
  /** The step that is all of it. */
  readonly onlyStep?: string;
  readonly runId?: string;
}

export interface PreflightRequest {
  /** The folder that paths of scripts are relative to. */
  readonly folder: string;
  readonly agent?: string | undefined;
  readonly maxCostUsd?: number | undefined;
  /** How long servers may take to tell their tools; one that takes longer is believed to have them. 0: none is connected. */
  readonly toolsWithinMs?: number;
}

/** Who does the work of a step, and with what. */
interface StepAnswer {
  /** `sandstorm`, `model`, `simulated`, `endpoint`, or the kind of the step's work. Null: no one. */
  readonly by: string | null;
  readonly model?: string | undefined;
  /** The variable or the setting that holds the key. */
  readonly key?: string | undefined;
  /** An address, or the name of an MCP server. */
  readonly server?: string | undefined;
  readonly tool?: string | undefined;
  readonly file?: string | undefined;
  readonly missing?: Pick<Problem, "code" | "message" | "remedy"> | undefined;
}

/** Whether a run would be answered, known before anything is spent. */
export interface Preflight {
  /** Narrowed to what the run is about, with what is doubtful. */
  readonly definition: CompiledDefinition;
  readonly options: JsonObject;
  readonly limit: ReturnType<typeof limitCost>;
  /** All that is missing, each at its step. */
  readonly problems: readonly ShownProblem[];
  /** No run that is not ready begins. */
  readonly isReady: boolean;
  /** Throws what is missing, if the run could not be answered. */
  refuse(): void;
  answerOf(step: TaskStep, graph: Graph): Promise<StepAnswer>;
}

const TOOLS_WITHIN_MS = 5_000;
const MAX_WORKFLOWS = 100;

/** What the definition cannot mend: a key, a program, money. Elsewhere the same text may run. */
const OF_THIS_PLACE: ReadonlySet<ErrorCode> = new Set([
  "AGENT_NOT_CONFIGURED",
  "MODEL_NOT_CONFIGURED",
  "MCP_SERVER_FAILED",
  "MCP_LOGIN_NEEDED",
  "SANDBOX_MISSING",
  "APPROVERS_MISSING",
  "PRICE_UNKNOWN",
  "BUDGET_EXCEEDED",
]);

export function isOfThisPlace(code: ErrorCode): boolean {
  return OF_THIS_PLACE.has(code);
}

/**
 * Looks for everything that the steps of a run need, and those of the workflows that it calls: who answers, models, keys, prices,
 * servers, tools, workflows, the sandbox. Names that values make are left to the run. Spends and writes nothing.
 */
export async function preflight(
  app: StartPorts,
  startable: Pick<Startable, "definition" | "input" | "file" | "startAt" | "onlyStep">,
  { toolsWithinMs = TOOLS_WITHIN_MS, maxCostUsd, ...request }: PreflightRequest,
): Promise<Preflight> {
  const { file, input, startAt, onlyStep } = startable;
  const definition = narrowDefinition(startable.definition, { startAt, onlyStep });
  const { graph } = definition;
  const chosen = await decideAgent(app, graph, request);
  const options: JsonObject = {
    ...(isPawlError(chosen) ? {} : { ...chosen }),
    app_dir: app.appDir,
    ...toGrantOptions(graph, app),
    ...(file === undefined ? {} : { source: file }),
    // A definition of functions cannot be sent: it is the program's that embeds this.
    ...(file === undefined && graph.dialect === "typescript" ? { is_program: true } : {}),
  };
  const limit = limitCost([app.maxRunCostMicro, toMicro(maxCostUsd), graph.limits.maxCostMicro]);
  const agentProblem = isPawlError(chosen) ? chosen : undefined;
  const needs = new Needs(app, { definition, input, options, agentProblem, toolsWithinMs });
  if (agentProblem !== undefined && request.agent !== undefined) needs.refuseBy(agentProblem);
  await needs.refuseFor(async () => {
    const { limitsCost } = await checkBudgets(app, graph.name);
    const { default: defaultModel } = app.config.settings.models;
    await refuseUnpriced(app, graph, { ...limit, hasBudget: limitsCost, options, defaultModel });
  });
  const { problems, refusal } = await needs.collect();
  const errors = problems.filter(({ severity }) => severity === "error");
  const { warnings = [] } = definition;
  const programs = [...needs.programs].sort();
  return {
    definition: {
      ...definition,
      graph: programs.length === 0 ? graph : { ...graph, programs },
      ...(problems.length === 0 ? {} : { warnings: [...warnings, ...problems] }),
    },
    options,
    limit,
    problems,
    isReady: errors.length === 0,
    refuse() {
      const [first] = errors;
      if (first === undefined) return;
      if (errors.some(({ code }) => !isOfThisPlace(code))) throw definitionHasErrors(definition.source, problems);
      if (refusal !== undefined) throw refusal;
      const { code, message, remedy } = first;
      const details = definitionHasErrors(definition.source, problems).details;
      throw new PawlError(code, { message, remedy, details });
    },
    answerOf: (step, of) => needs.answerOf(step, of),
  };
}

/** What keeps runs of a definition from being answered, whatever their input. */
export async function findUnready(
  app: StartPorts,
  found: ReferredDefinition,
  toolsWithinMs?: number,
): Promise<readonly ShownProblem[]> {
  const { problems } = await preflight(
    app,
    { ...found, input: {} },
    { folder: app.appDir, ...(toolsWithinMs === undefined ? {} : { toolsWithinMs }) },
  );
  return problems.filter(({ severity }) => severity === "error");
}

interface Beginning {
  readonly definition: CompiledDefinition;
  readonly input: JsonObject;
  readonly options: JsonObject;
  /** Why no one answers agent steps. */
  readonly agentProblem: PawlError | undefined;
  readonly toolsWithinMs: number;
}

interface Placed<Kind extends Step = Step> {
  readonly step: Kind;
  /** The workflow goes on where it fails. */
  readonly isHandled: boolean;
}

class Needs {
  readonly #app: StartPorts;
  readonly #beginning: Beginning;
  readonly #isLenient: boolean;
  readonly #hasEndpoint: boolean;
  readonly #agent: string | undefined;
  readonly #seen = new Set<string>();
  readonly #problems: ShownProblem[] = [];
  /** The workflows of programs that are called. */
  readonly programs = new Set<string>();
  #tools: AbortSignal | undefined;
  #sandbox: ReturnType<StartPorts["checkSandbox"]> | undefined;
  #people: ReturnType<typeof listPeople> | undefined;
  #refusal: PawlError | undefined;

  constructor(app: StartPorts, beginning: Beginning) {
    this.#app = app;
    this.#beginning = beginning;
    const { uhlp, definitions } = app.config.settings;
    this.#isLenient = definitions.lenient;
    const { context } = beginning.input;
    const ofRequest = isJsonObject(context) ? context["mcp_endpoint"] : undefined;
    this.#hasEndpoint = uhlp.mcp_endpoint !== undefined || ofRequest !== undefined;
    const { agent } = beginning.options;
    this.#agent = typeof agent === "string" ? agent : undefined;
  }

  async collect(): Promise<{ readonly problems: readonly ShownProblem[]; readonly refusal: PawlError | undefined }> {
    const { definition, input } = this.#beginning;
    for (const { step, message } of findWrongLists(definition.graph, input)) {
      const remedy = remedyOf("LIST_MISSING", definition.graph.dialect);
      this.#report({ step, isHandled: false }, definition, { code: "LIST_MISSING", message, remedy });
    }
    await this.#look(this.#beginning.definition);
    return { problems: this.#problems.sort((a, b) => this.#compare(a, b)), refusal: this.#refusal };
  }

  /** What is missing is not about one step. The first is what a start throws. */
  refuseBy(refusal: PawlError): void {
    if (this.#refusal === refusal) return;
    this.#refusal ??= refusal;
    const { code, message, remedy } = refusal;
    const problem: Problem = { code, severity: "error", message, remedy };
    this.#problems.push({ ...problem, rendered: renderProblem(problem, "") });
  }

  async refuseFor(check: () => Promise<void>): Promise<void> {
    try {
      await check();
    } catch (error) {
      if (!isPawlError(error) || !isOfThisPlace(error.code)) throw error;
      this.refuseBy(error);
    }
  }

  async answerOf(step: TaskStep, graph: Graph): Promise<StepAnswer> {
    const { executor, input } = step;
    const { tool, server, script } = fieldsOf(input);
    switch (executor) {
      case "agent":
        if (this.#agent === undefined) return { by: null, missing: this.#beginning.agentProblem };
        if (this.#agent !== "inline") return { by: this.#agent.split(":", 1)[0] ?? null };
        return this.#asksModel(step, graph);
      case "inline":
      case "llm":
        if (isSimulated(this.#beginning.options)) return { by: "simulated" };
        return this.#asksModel(step, graph);
      case "mcp":
        return this.#callsTool({ tool, server }, graph);
      case "code":
        return { by: executor, file: filledText(script), missing: await this.#findSandboxProblem() };
      default:
        return { by: executor };
    }
  }

  async #asksModel(step: TaskStep, { settings, ...graph }: Graph): Promise<StepAnswer> {
    const { model: named, isKnown } = readAskedModel(step, { settings, ...graph });
    // A mock model is asked for by name, and has no other provider.
    if (step.executor === "llm" && this.#hasEndpoint && named?.startsWith("mock:") !== true) return { by: "endpoint" };
    if (!isKnown) return { by: "model" };
    const { folder } = settings;
    const { model, key, address, problem } = await (await this.#app.prices()).reach(named, {
      forAgent: step.executor !== "llm",
      ...(typeof folder === "string" ? { folder } : {}),
      grant: grantOf(settings),
    });
    return { by: "model", model, key, server: address, missing: problem };
  }

  async #callsTool(
    { tool, server }: { readonly tool: Json | undefined; readonly server: Json | undefined },
    { dialect }: Graph,
  ): Promise<StepAnswer> {
    const known = { tool: filledText(tool), server: filledText(server) };
    if (this.#hasEndpoint && server === undefined) return { by: "endpoint", ...known };
    if (known.tool === undefined || server === null) return { by: "mcp", ...known };
    return { by: "mcp", ...known, missing: await this.#findToolProblem({ ...known, tool: known.tool }, dialect) };
  }

  async #findToolProblem(named: Parameters<StartPorts["findToolProblem"]>[0], dialect: string) {
    const found = await this.#app.findToolProblem(named, this.#untilTools());
    return found && { ...found, remedy: remedyOf(found.code, dialect) };
  }

  #untilTools(): AbortSignal {
    const { toolsWithinMs } = this.#beginning;
    this.#tools ??= toolsWithinMs === 0 ? AbortSignal.abort() : AbortSignal.timeout(toolsWithinMs);
    return this.#tools;
  }

  async #findSandboxProblem(): Promise<StepAnswer["missing"]> {
    if (this.#app.config.settings.code.sandbox !== "required") return undefined;
    this.#sandbox ??= this.#app.checkSandbox();
    const { ok, detail: message, remedy: helps } = await this.#sandbox;
    if (ok) return undefined;
    const remedy = `${helps ?? "`pawl doctor` says more."} To accept the risk instead, set \`code.sandbox\` to \`off\`.`;
    return { code: "SANDBOX_MISSING", message, remedy };
  }

  /** Those of the definition that is started come first, each file's by line. */
  #compare({ place: a }: ShownProblem, { place: b }: ShownProblem): number {
    const own = this.#beginning.definition.source;
    if (a?.file !== b?.file)
      return a?.file === own ? -1 : b?.file === own ? 1 : (a?.file ?? "") < (b?.file ?? "") ? -1 : 1;
    return (a?.line ?? 0) - (b?.line ?? 0);
  }

  async #look(definition: CompiledDefinition): Promise<void> {
    const { kinds, hasCalls, namesPeople } = executorKindsOf(definition.graph);
    const isAnswered =
      this.#agent !== undefined && this.#agent !== "inline" && [...kinds].every((kind) => kind === "agent");
    if (isAnswered && !hasCalls && !namesPeople) return;
    await Promise.all(
      placedSteps(definition.graph.flow).map(async ({ step, isHandled }) => {
        if (step.kind === "call") await this.#lookAtCall(step, definition);
        if (step.kind === "approve") await this.#lookAtApproval(step, definition);
        if (step.kind === "task") await this.#lookAtTask({ step, isHandled }, definition);
      }),
    );
  }

  /** A program tells people apart by itself. */
  async #lookAtApproval(step: ApproveStep, definition: CompiledDefinition): Promise<void> {
    if (!hasAnswerRules(step) || this.#beginning.options["is_program"] === true) return;
    this.#people ??= listPeople(this.#app);
    const message = findLackOfPeople(step, await this.#people, whoAsks(this.#app));
    if (message === undefined) return;
    const { remedy } = ERRORS.APPROVERS_MISSING;
    this.#report({ step, isHandled: false }, definition, { code: "APPROVERS_MISSING", message, remedy });
  }

  async #lookAtTask({ step, isHandled }: Placed<TaskStep>, definition: CompiledDefinition): Promise<void> {
    const { missing } = await this.answerOf(step, definition.graph);
    if (missing === this.#beginning.agentProblem) {
      if (this.#beginning.agentProblem !== undefined) this.refuseBy(this.#beginning.agentProblem);
    } else if (missing !== undefined) this.#report({ step, isHandled }, definition, missing);
    if (step.executor === "agent" && this.#agent === "inline") await this.#lookAtTools({ step, isHandled }, definition);
    if (step.executor === "inline" && !isSimulated(this.#beginning.options))
      await this.#lookAtRules({ step, isHandled }, definition);
  }

  /** An agent that a definition describes has rules of its own for the tools of its servers. */
  async #lookAtRules(placed: Placed<TaskStep>, definition: CompiledDefinition): Promise<void> {
    const { agent } = fieldsOf(placed.step.input);
    if (!isJsonObject(agent)) return;
    const { settings, dialect } = definition.graph;
    const of = { settings, tenantId: this.#app.tenantId };
    const found = await this.#app.findAgentToolProblem(agent, of, this.#untilTools());
    if (found !== undefined) this.#report(placed, definition, { ...found, remedy: remedyOf(found.code, dialect) });
  }

  /** An agent server has tools of its own; an agent of Pawl has those that its step lists, some of them built in. */
  async #lookAtTools(placed: Placed<TaskStep>, definition: CompiledDefinition): Promise<void> {
    const { tools } = fieldsOf(placed.step.input);
    if (!Array.isArray(tools)) return;
    const named = tools.filter((tool) => typeof tool === "string").filter((tool) => tool.includes("."));
    await Promise.all(
      named.map(async (tool) => {
        const missing = await this.#findToolProblem({ tool }, definition.graph.dialect);
        if (missing !== undefined) this.#report(placed, definition, missing);
      }),
    );
  }

  async #lookAtCall(step: CallStep, definition: CompiledDefinition): Promise<void> {
    const workflow = literalOf(step.workflow);
    if (workflow === undefined) return;
    const key = writeExact(workflow);
    if (this.#seen.has(key) || this.#seen.size >= MAX_WORKFLOWS) return;
    this.#seen.add(key);
    const { options } = this.#beginning;
    const { graph } = definition;
    const terms = literalOf(step.terms);
    try {
      const onlyNames = terms !== undefined && !isMessage(terms);
      const asking = { options, grant: grantOf(graph.settings), tenantId: this.#app.tenantId, onlyNames };
      const called = await findCalled(this.#app, workflow, asking);
      for (const name of neededPrograms(called)) this.programs.add(name);
      await this.#look(called);
    } catch (error) {
      if (!isPawlError(error) || isStorageFailure(error)) throw error;
      if (!traitsOf(graph).checksCalls) return;
      const { code, message, details } = error;
      const remedy = (await this.#suggest(code, workflow)) ?? error.remedy;
      this.#report({ step, isHandled: false }, definition, { code, message, remedy });
      for (const each of problemsOf(details)) this.#problems.push(each);
    }
  }

  /** The name that was likely meant. */
  async #suggest(code: ErrorCode, workflow: Json): Promise<string | undefined> {
    if (code !== "WORKFLOW_NOT_FOUND" || typeof workflow !== "string") return undefined;
    return suggest(workflow, await listWorkflowNames(registryOf(this.#app)));
  }

  #report(
    { step, isHandled }: Placed,
    { text, source }: CompiledDefinition,
    missing: NonNullable<StepAnswer["missing"]>,
  ) {
    const { code, message, remedy } = missing;
    const { id, place } = step;
    const isSlip = this.#isLenient && !isOfThisPlace(code) && !code.startsWith("MODEL_");
    const problem: Problem = {
      code,
      severity: isSlip || (isHandled && isOfThisPlace(code)) ? "warning" : "error",
      message: `Step '${id}': ${message}`,
      remedy,
      ...(place === undefined ? {} : { place: { ...(source === undefined ? {} : { file: source }), ...place } }),
    };
    this.#problems.push({ ...problem, rendered: renderProblem(problem, text) });
  }
}

/** Every step, in its own place or in that of the step around it. */
function placedSteps(
  flow: Flow,
  around?: { readonly place: Place | undefined; readonly isHandled: boolean },
): readonly Placed[] {
  return flow.steps.flatMap((step) => {
    const place = step.place ?? around?.place;
    const isHandled = around?.isHandled === true || isFailureHandled(step);
    const inner = flowsInside(step).flatMap(({ flow: inside, suffix }) =>
      placedSteps(inside, { place, isHandled: suffix === "" ? isHandled : around?.isHandled === true }),
    );
    return [{ step: { ...step, ...(place === undefined ? {} : { place }) }, isHandled }, ...inner];
  });
}

function isFailureHandled({ catch: caught, onFailure = "abort", transitions = [] }: Step): boolean {
  return (
    caught !== undefined ||
    onFailure !== "abort" ||
    transitions.some(({ on, to }) => on !== "success" && typeof to === "string")
  );
}

/** The called workflow's own problems are in the error that says that it cannot be used. */
function problemsOf(details: Json | undefined): readonly ShownProblem[] {
  const listed = isJsonObject(details) ? details["problems"] : undefined;
  // They were made of problems, and described for answers.
  return Array.isArray(listed) ? (listed as unknown as readonly ShownProblem[]) : [];
}

/** Fixed values by name. `null`: a value that the run makes. */
function fieldsOf(input: Expr): { readonly [name: string]: Json | undefined } {
  if (input.op !== "object") return {};
  const entries = Object.entries(input.entries);
  return Object.fromEntries(entries.map(([name, expr]) => [name, expr.op === "literal" ? expr.value : null]));
}
