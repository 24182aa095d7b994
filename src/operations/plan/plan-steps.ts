import { PawlError } from "../../core/errors/pawl-error.ts";
import type { CallStep, Graph, TaskStep } from "../../core/graph/graph.ts";
import { type IndexedFlow, type IndexedStep, indexGraph } from "../../core/graph/indexed-graph.ts";
import { computeShape, inputNamesOf, SINGLE } from "../../core/graph/shape.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { CompiledDefinition } from "../../hosts/compiled-definition.ts";
import { costOfTry, type ModelPrice, type ModelPrices } from "../../ports/model-prices.ts";
import { passTurn } from "../../ports/turns.ts";
import { toUsd } from "../limits/micro-dollars.ts";
import { isMessage } from "../start/input/read-message.ts";
import type { Preflight } from "../start/preflight.ts";
import { atMost, type Count, exactly, ONCE, times } from "./plan-count.ts";
import type { Assumptions, PlannedStep } from "./plan-schemas.ts";
import { type Asking, readAsking } from "./plan-task.ts";
import { countItems, type KnownValues, knownValueOf, plus, readCallInput, tokensOf } from "./plan-values.ts";
import { visitsOf } from "./plan-visits.ts";
import { costOf, describePrice, rowOf } from "./planned-step.ts";

interface PlannerParts {
  readonly prices: ModelPrices;
  readonly assumptions: Assumptions;
  readonly repairs: number;
  readonly answerOf: Preflight["answerOf"];
  findCalled(workflow: Json, onlyNames: boolean): Promise<CompiledDefinition>;
}

/** One pass through a flow. */
interface Pass {
  readonly graph: Graph;
  readonly flow: IndexedFlow;
  readonly prefix: string;
  readonly count: Count;
  readonly known: Pick<KnownValues, "input" | "unknownInputs" | "items">;
  readonly inputNames: ReadonlySet<string>;
  readonly outer: Sizes | undefined;
  /** Workflows that are being called, the outermost first. */
  readonly calls: readonly string[];
}

/** Tokens of the outputs of a flow's steps. */
interface Sizes {
  readonly outer: Sizes | undefined;
  readonly of: Map<string, { readonly each: number | undefined; readonly count: Count; readonly origin: number }>;
}

/** Definitions call definitions: somewhere a plan has to end. */
const MOST_STEPS = 5_000;

/** Walks a definition as a run would, and asks nobody. */
export class StepPlanner {
  readonly steps: PlannedStep[] = [];
  readonly warnings = new Set<string>();
  readonly #parts: PlannerParts;

  constructor(parts: PlannerParts) {
    this.#parts = parts;
  }

  async plan(graph: Graph, input: JsonObject): Promise<void> {
    await this.#planFlow({
      graph,
      flow: indexGraph(graph, "").root,
      prefix: "",
      count: ONCE,
      known: { input, unknownInputs: new Set(), items: undefined },
      inputNames: new Set(inputNamesOf(graph, input)),
      outer: undefined,
      calls: [nameOf(graph)],
    });
  }

  /** The tokens of all outputs together. */
  async #planFlow(pass: Pass): Promise<number | undefined> {
    const { flow, graph } = pass;
    const machine = flow.flow.kind === "machine" ? flow.flow : undefined;
    const visits = machine === undefined ? undefined : visitsOf(machine, graph.limits.maxVisits);
    const shaped = machine === undefined ? computeShape(flow, pass.inputNames) : undefined;
    const shape = shaped?.ok === true ? shaped.shape : flow.plainShape;
    const sizes: Sizes = { outer: pass.outer, of: new Map() };
    let total: number | undefined = 0;
    for (const index of machine === undefined ? flow.order : flow.steps.keys()) {
      const indexed = flow.steps[index];
      if (indexed === undefined || this.steps.length >= MOST_STEPS) continue;
      await passTurn();
      const origin = shape[index] ?? SINGLE;
      const each = flow.steps[origin]?.step.each;
      const known = this.#knownIn(pass, sizes, origin);
      const domain = each === undefined ? undefined : countItems(each, this.#knownIn(pass, sizes, SINGLE));
      const visited = visits?.get(indexed.step.id) ?? ONCE;
      if (visited.is === "at_most" && visited.count > 1) this.#warnOfLoop(pass, indexed, visited.count);
      const inPass = times(visited, domain?.count ?? ONCE);
      const when = indexed.step.when === undefined ? inPass : atMost(inPass);
      const first = this.steps.length;
      const size = await this.#planStep(indexed, {
        pass: { ...pass, known: domain === undefined ? pass.known : { ...pass.known, items: domain.items } },
        known: domain === undefined ? known : { ...known, items: domain.items },
        sizes,
        count: times(pass.count, when),
      });
      const row = this.steps[first];
      const followed = origin === index ? undefined : flow.steps[origin]?.step.id;
      if (row !== undefined && followed !== undefined) this.steps[first] = { ...row, follows: followed };
      sizes.of.set(indexed.step.id, { each: size, count: inPass, origin });
      total = plus(total, whole(size, inPass));
    }
    return total;
  }

  /** The tokens of its output. */
  async #planStep(
    indexed: IndexedStep,
    at: { readonly pass: Pass; readonly known: KnownValues; readonly sizes: Sizes; readonly count: Count },
  ): Promise<number | undefined> {
    const { step } = indexed;
    const { pass, known, sizes, count } = at;
    const prefix = `${pass.prefix}${indexed.escapedId}`;
    const attempts = step.retry?.maxAttempts ?? 1;
    const again = attempts > 1 ? atMost(times(count, exactly(attempts))) : count;
    const inside = (flow: IndexedFlow, suffix: string, times: Count) =>
      this.#planFlow({ ...pass, flow, prefix: `${prefix}${suffix}/`, count: times, outer: sizes });
    let size: number | undefined = this.#parts.assumptions.value_tokens;
    if (step.kind === "task") size = await this.#planTask(step, { pass, known, name: prefix, count, attempts });
    else if (step.kind === "call") {
      size = await this.#planCall(step, { pass, known, name: prefix, count, attempts, again });
    } else if (step.kind === "approve" || step.kind === "wait") {
      this.steps.push({ ...rowOf(step, prefix, count, attempts), cost: { is: "none", usd: 0 } });
    } else if (step.kind === "set" || step.kind === "respond") {
      size = step.value === undefined ? 0 : await tokensOf(step.value, known, this.#parts.assumptions);
    } else if (indexed.body !== undefined) size = await inside(indexed.body, "", again);
    if (indexed.catch !== undefined) size = most(size, await inside(indexed.catch, "~catch", atMost(count)));
    if (indexed.finally !== undefined) await inside(indexed.finally, "~finally", count);
    return size;
  }

  async #planTask(step: TaskStep, at: TaskPlace): Promise<number | undefined> {
    const { pass, known, name, count, attempts } = at;
    const { assumptions, repairs } = this.#parts;
    const asking = await readAsking(step, { graph: pass.graph, known, assumptions, repairs });
    const { by, key, server, tool, file, missing } = await this.#parts.answerOf(step, pass.graph);
    const who = { answered_by: by, key, server, tool, file, missing: missing?.message };
    const row = { ...rowOf(step, name, count, attempts), ...who };
    if (asking === undefined) {
      if (step.executor === "mcp")
        this.warnings.add("What tools themselves charge is not counted: Pawl cannot know it.");
      this.steps.push({ ...row, cost: { is: "none", usd: 0 } });
      return assumptions.value_tokens;
    }
    const price = await this.#priceOf(asking, by);
    const perAttempt = price.kind === "priced" ? await costOfTry(asking, price) : undefined;
    const limits = [step.maxCostMicro, asking.maxCostMicro].filter((limit) => limit !== undefined);
    const cap = limits.length === 0 ? undefined : Math.min(...limits);
    if (price.kind === "unknown" && missing === undefined) this.warnings.add(`${name}: ${price.reason}`);
    this.steps.push({
      ...row,
      max_turns: asking.turns ?? null,
      model: price.kind === "unknown" ? (asking.model ?? null) : price.model,
      price: await describePrice(price),
      tokens: {
        calls: asking.calls,
        first_input: asking.inputTokens ?? null,
        output: asking.outputTokens,
      },
      attempt_usd: perAttempt === undefined ? null : toUsd(perAttempt),
      max_cost_usd: cap === undefined ? null : toUsd(cap),
      cost: costOf({ price, count, attempts, perAttempt, cap }),
    });
    return asking.outputTokens;
  }

  async #priceOf({ model, isUsualModel, forAgent }: Asking, by: string | null): Promise<ModelPrice> {
    if (by === "simulated") return { kind: "simulated", model: "simulated" };
    return this.#parts.prices.find(isUsualModel === true && by !== "sandstorm" ? undefined : model, { forAgent });
  }

  async #planCall(step: CallStep, at: TaskPlace & { readonly again: Count }): Promise<number | undefined> {
    const { pass, known, name, count, attempts, again } = at;
    const row = rowOf(step, name, count, attempts);
    const unbounded = (because: string) => {
      this.steps.push({ ...row, cost: { is: "unbounded", usd: null, because } });
      return undefined;
    };
    const workflow = knownValueOf(step.workflow, known);
    if (workflow === undefined) return unbounded("which workflow it calls is decided by the run");
    const terms = knownValueOf(step.terms, known);
    const asMessage = terms !== undefined && isMessage(terms);
    const called = await this.#find(workflow, terms !== undefined && !asMessage);
    if (called instanceof PawlError) {
      this.warnings.add(`${name}: ${called.message}`);
      return unbounded("the workflow that it calls cannot be read");
    }
    const { graph } = called;
    if (pass.calls.includes(nameOf(graph))) return unbounded(`it calls "${graph.name}" again from inside it`);
    this.steps.push({ ...row, cost: { is: "none", usd: 0 } });
    const given = asMessage ? { input: {}, unknownInputs: "all" as const } : readCallInput(step, graph, known);
    return this.#planFlow({
      graph,
      flow: indexGraph(graph, "").root,
      prefix: `${name}/`,
      count: again,
      known: { ...given, items: undefined },
      inputNames: new Set([
        ...graph.input.declared,
        ...inputNamesOf(graph, given.input),
        ...(given.unknownInputs === "all" ? [] : [...given.unknownInputs]),
      ]),
      outer: undefined,
      calls: [...pass.calls, nameOf(graph)],
    });
  }

  async #find(workflow: Json, onlyNames: boolean): Promise<CompiledDefinition | PawlError> {
    try {
      return await this.#parts.findCalled(workflow, onlyNames);
    } catch (error) {
      if (error instanceof PawlError) return error;
      throw error;
    }
  }

  #knownIn(pass: Pass, sizes: Sizes, origin: number): KnownValues {
    const { output_tokens: usual } = this.#parts.assumptions;
    return {
      ...pass.known,
      outputTokens: (name) => {
        for (let at: Sizes | undefined = sizes; at !== undefined; at = at.outer) {
          const size = at.of.get(name);
          if (size === undefined) continue;
          const isOfItem = at !== sizes || (origin !== SINGLE && size.origin === origin);
          return isOfItem ? size.each : whole(size.each, size.count);
        }
        return usual;
      },
    };
  }

  #warnOfLoop({ prefix }: Pass, { escapedId }: IndexedStep, visits: number): void {
    this.warnings.add(`${prefix}${escapedId} is on a loop: it may be visited until ${visits} visits are used up.`);
  }
}

interface TaskPlace {
  readonly pass: Pass;
  readonly known: KnownValues;
  readonly name: string;
  readonly count: Count;
  readonly attempts: number;
}

function nameOf({ dialect, name }: Graph): string {
  return `${dialect} ${name}`;
}

function whole(each: number | undefined, count: Count): number | undefined {
  return each === undefined || count.count === null ? undefined : each * count.count;
}

function most(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : Math.max(a, b);
}
