import type { MachineFlow, Step } from "../../../core/graph/graph.ts";
import type { NeededFile } from "../../definition.ts";
import type { ProblemList } from "../../problem-list.ts";
import type { Range } from "../../source/source-text.ts";
import type { ExpressionScope } from "../expressions/expression-fault.ts";
import type { ReadRetry } from "../shape/step-fields.ts";
import type { Level, StepDefinition } from "../shape/step-shape.ts";

/** The state that all parts of a definition share while it is lowered. */
export interface LowerContext {
  readonly workflowId: string;
  readonly startedBy: ReadonlySet<string>;
  readonly payload?: ExpressionScope["payload"];
  readonly outputs?: ExpressionScope["outputs"];
  readonly problems: ProblemList;
  readonly maxSteps: number;
  /** Every id of the file. */
  readonly stepIds: ReadonlySet<string>;
  readonly runVariables: ReadonlySet<string>;
  /** The step that shapes the output of the workflow where it ends well. */
  readonly outputId: string | undefined;
  readonly files: NeededFile[];
  /** How steps with `compensate` are taken back, in the order of the file: `variable` holds what of it each time needs. */
  readonly undos: { readonly step: string; readonly variable: string; readonly flow: MachineFlow }[];
  /** Names of variables of the environment that steps are given. */
  readonly variables: Set<string>;
  readsLastError: boolean;
  /** Conditions that are computed as variables, for names that are used once. */
  conditionCount: number;
  /** Steps of the graph so far: what several blocks share is there several times. */
  stepCount: number;
  /** How often a step was looked at to find what belongs to a block. */
  looks: number;
  /** There are too many of either, which has been reported. */
  isTooLarge: boolean;
}

/** The names that a step can read at its place. */
export interface FlowScope {
  readonly level: Level;
  /** Ids of the steps whose outputs can be read. */
  readonly visible: ReadonlySet<string>;
  readonly locals: ExpressionScope["locals"];
  readonly allowsError: boolean;
  /** The control steps around, innermost last. */
  readonly owners: readonly StepDefinition[];
  /** Ids of the fan-outs around, by which loop variables are found. */
  readonly fanOuts: ReadonlySet<string>;
  /** Several of them may run at once. */
  readonly isConcurrent?: boolean;
  /** It takes something back, or answers a failure of the workflow. */
  readonly isUndo?: boolean;
}

/** Blocks that share steps have a copy each, and blocks inside of them again. */
const MAX_COPIES = 5_000;
const MAX_LOOKS = 2_000_000;

/** True from the moment on when blocks share more steps than can be untangled. */
export function isTooLarge(context: LowerContext, at: Range): boolean {
  const isOver = context.stepCount > MAX_COPIES || context.looks > MAX_LOOKS;
  if (isOver && !context.isTooLarge) {
    const message = "Blocks share so many steps that their copies are too many.";
    context.problems.error({ code: "TOO_MANY_STEPS", at, message });
  }
  context.isTooLarge ||= isOver;
  return isOver;
}

/** An id for a step that the file does not have, different from all that it has. */
export function freeId(
  wanted: string,
  context: Pick<LowerContext, "stepIds">,
  taken: ReadonlySet<string> = new Set(),
): string {
  let id = wanted;
  while (context.stepIds.has(id) || taken.has(id)) id = `${id}_`;
  return id;
}

/** The work of a step, without its name and place in the flow. */
export type Doing = Step extends infer Kind ? (Kind extends Step ? Omit<Kind, "id"> : never) : never;

/** For what could not be read: the definition has errors and is never run. */
export const UNREADABLE: Doing = { kind: "set" };

interface Attempting {
  readonly retryPolicy: ReadRetry | undefined;
  readonly timeout: number | undefined;
}

/** The settings of single attempts. */
export function attemptsOf({ retryPolicy, timeout: timeoutMs }: Attempting): Pick<Step, "retry" | "timeoutMs"> {
  if (retryPolicy === undefined) return { retry: undefined, timeoutMs };
  const { condition: _, ...retry } = retryPolicy;
  return { retry, timeoutMs };
}

interface Spending extends Attempting {
  readonly atMostOnce: boolean;
  readonly maxCostUsd: number | undefined;
}

/** The same, and what concerns effects and money. */
export function effortOf(body: Spending): Pick<Step, "retry" | "timeoutMs" | "atMostOnce" | "maxCostMicro"> {
  const { atMostOnce, maxCostUsd: usd } = body;
  const maxCostMicro = usd === undefined ? undefined : Math.max(1, Math.round(usd * 1_000_000));
  return { ...attemptsOf(body), ...(atMostOnce ? { atMostOnce } : {}), maxCostMicro };
}
