import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Expr } from "../../core/expressions/expr.ts";
import type { Flow, Graph, Step, TaskStep } from "../../core/graph/graph.ts";
import { flowsInside } from "../../core/graph/steps-within.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { didYouMean } from "../../dialects/did-you-mean.ts";
import { dialectNamed, loadDefinition } from "../../dialects/load-definition.ts";
import type { CompiledDefinition } from "../../hosts/compiled-definition.ts";
import { invalid, readForkChanges, type StepChange } from "./fork-changes.ts";

/**
 * The definition as a fork runs it: its graph with what `changes` says of steps and of the run's time-out. Throws
 * `STEP_NOT_FOUND` and `CHANGE_INVALID` with the place.
 */
export async function changeDefinition(definition: CompiledDefinition, changes: Json): Promise<CompiledDefinition> {
  const { steps, timeout } = readForkChanges(changes);
  let { graph } = definition;
  for (const [name, change] of steps) {
    const address = findAddress(graph, name);
    graph = {
      ...graph,
      flow: await changeAt(graph.flow, address, (step) => changeStep(step, name, change, definition)),
    };
  }
  if (timeout !== undefined) graph = { ...graph, limits: { ...graph.limits, timeoutMs: toMs(timeout) } };
  return { ...definition, graph };
}

/** The address of a step: the ids of the steps around it and its own, e.g. `batch/fetch`. */
function findAddress({ name: workflow, flow }: Graph, name: string): string {
  const all = [...addressesIn(flow, "")];
  if (all.some(({ address }) => address === name)) return innermost(all, name);
  const fitting = all.filter(({ id }) => id === name).map(({ address }) => address);
  // A step that only wraps the work of the same name stands for it.
  const [first, ...others] = fitting.filter((each) => !fitting.some((other) => other === `${each}/${name}`));
  if (first !== undefined && others.length === 0) return first;
  if (first !== undefined)
    throw invalid(`changes.steps.${name}`, `stands for ${fitting.length} steps`, `Name one of: ${fitting.join(", ")}.`);
  const meant = didYouMean(name, [...new Set(all.flatMap(({ id, address }) => [id, address]))]);
  const known = all.map(({ address }) => address).slice(0, 20);
  throw new PawlError("STEP_NOT_FOUND", {
    message: `changes.steps: "${workflow}" has no step "${name}".`,
    remedy: meant === undefined ? `Its steps are: ${known.join(", ")}.` : `Did you mean "${meant}"?`,
    details: { path: `changes.steps.${name}` },
  });
}

function innermost(all: readonly { readonly address: string }[], address: string): string {
  const inner = `${address}/${address.slice(address.lastIndexOf("/") + 1)}`;
  return all.some((each) => each.address === inner) ? inner : address;
}

function* addressesIn(flow: Flow, around: string): Generator<{ readonly id: string; readonly address: string }> {
  for (const step of flow.steps) {
    const address = around === "" ? step.id : `${around}/${step.id}`;
    yield { id: step.id, address };
    for (const inner of flowsInside(step)) yield* addressesIn(inner.flow, `${address}${inner.suffix}`);
  }
}

type Change = (step: Step) => Promise<Step>;

async function changeAt(flow: Flow, address: string, change: Change, around = ""): Promise<Flow> {
  const steps: Step[] = [];
  for (const step of flow.steps) {
    const here = around === "" ? step.id : `${around}/${step.id}`;
    if (here === address) steps.push(await change(step));
    else if (step.kind === "flow" && address.startsWith(`${here}/`)) {
      steps.push({ ...step, flow: await changeAt(step.flow, address, change, here) });
    } else if (step.catch !== undefined && address.startsWith(`${here}~catch/`)) {
      steps.push({ ...step, catch: await changeAt(step.catch, address, change, `${here}~catch`) });
    } else if (step.finally !== undefined && address.startsWith(`${here}~finally/`)) {
      steps.push({ ...step, finally: await changeAt(step.finally, address, change, `${here}~finally`) });
    } else steps.push(step);
  }
  return { ...flow, steps };
}

async function changeStep(step: Step, name: string, change: StepChange, definition: CompiledDefinition): Promise<Step> {
  const { max_cost_usd: maxCostUsd, timeout } = change;
  const limited: Step = {
    ...step,
    ...(maxCostUsd === undefined ? {} : { maxCostMicro: Math.round(maxCostUsd * 1_000_000) }),
    ...(timeout === undefined ? {} : { timeoutMs: toMs(timeout) }),
  };
  const field = (["model", "prompt", "max_turns"] as const).find((each) => change[each] !== undefined);
  if (limited.kind !== "task") {
    if (field === undefined) return limited;
    throw invalid(`changes.steps.${name}.${field}`, `does not exist: "${name}" asks no model (${step.kind})`);
  }
  const entries = limited.input.op === "object" ? limited.input.entries : {};
  switch (limited.executor) {
    case "agent":
      return changeAgent(limited, entries, { name, change, definition });
    case "inline":
      return { ...limited, input: { op: "object", entries: changeInline(entries, change) } };
    case "llm":
      if (change.max_turns !== undefined)
        throw invalid(`changes.steps.${name}.max_turns`, "does not exist: a model has one turn");
      return { ...limited, input: { op: "object", entries: changeModel(entries, change) } };
    default:
      if (field === undefined) return limited;
      throw invalid(`changes.steps.${name}.${field}`, `does not exist: "${name}" asks no model (${limited.executor})`);
  }
}

type Entries = { readonly [name: string]: Expr };

interface AgentChange {
  readonly name: string;
  readonly change: StepChange;
  readonly definition: CompiledDefinition;
}

async function changeAgent(
  step: TaskStep,
  entries: Entries,
  { name, change, definition }: AgentChange,
): Promise<TaskStep> {
  const { model, prompt, max_turns: turns, timeout } = change;
  const changed: Entries = {
    ...entries,
    ...literalOf("model", model),
    ...literalOf("max_turns", turns),
    ...(entries["timeout"] === undefined ? {} : literalOf("timeout", timeout)),
  };
  if (prompt === undefined) return { ...step, input: { op: "object", entries: changed } };
  // References of a program have no names that a text could use: it is asked as it is written.
  if (definition.graph.dialect === "typescript")
    return { ...step, input: { op: "object", entries: { ...changed, ...literalOf("prompt", prompt) } } };
  const written = await compilePrompt(definition, step.id, prompt);
  if (written === undefined)
    throw invalid(`changes.steps.${name}.prompt`, "cannot be changed: the definition has no such prompt");
  const { follows: _, itemFields: __, usesItem: ___, ...rest } = step;
  const { follows, itemFields, usesItem } = written.step;
  return {
    ...rest,
    ...(follows === undefined ? {} : { follows }),
    ...(itemFields === undefined ? {} : { itemFields }),
    ...(usesItem === undefined ? {} : { usesItem }),
    input: { op: "object", entries: { ...changed, prompt: written.prompt } },
  };
}

/** By the dialect itself, in its place in the definition: names in the prompt mean what they would mean there. */
async function compilePrompt({ text, graph }: CompiledDefinition, id: string, prompt: string) {
  const edited = dialectNamed(graph.dialect)?.replacePrompt?.(text, id, prompt);
  if (edited === undefined) return undefined;
  const { graph: compiled, problems } = await loadDefinition({ text: edited });
  if (compiled === undefined) {
    const [first] = problems.filter(({ severity }) => severity === "error");
    throw invalid(
      `changes.steps.${id}.prompt`,
      `does not fit: ${first?.message ?? "it cannot be read"}`,
      first?.remedy,
    );
  }
  const step = compiled.flow.steps.find((each) => each.id === id);
  if (step?.kind !== "task" || step.input.op !== "object") return undefined;
  const expr = step.input.entries["prompt"];
  return expr === undefined ? undefined : { step, prompt: expr };
}

/** Its settings are one literal. */
function changeInline(entries: Entries, { model, prompt, max_turns: turns }: StepChange): Entries {
  const { agent } = entries;
  const settings: JsonObject = agent?.op === "literal" && isJsonObject(agent.value) ? agent.value : {};
  const changed: JsonObject = {
    ...settings,
    ...(model === undefined ? {} : { model }),
    ...(prompt === undefined ? {} : { system_prompt: prompt }),
    ...(turns === undefined ? {} : { max_iterations: turns }),
  };
  return { ...entries, agent: { op: "literal", value: changed } };
}

/** A prompt takes the place of a prompt file; what that says beside it (model, schema) goes with it. */
function changeModel(entries: Entries, { model, prompt }: StepChange): Entries {
  const { promptTemplate, prompt_template: alsoTemplate, ...rest } = entries;
  const kept = prompt === undefined ? entries : rest;
  return { ...kept, ...literalOf("model", model), ...literalOf("prompt", prompt) };
}

function literalOf(name: string, value: Json | undefined): Entries {
  return value === undefined ? {} : { [name]: { op: "literal", value } };
}

function toMs(seconds: number): number {
  return Math.max(1, Math.round(seconds * 1_000));
}
