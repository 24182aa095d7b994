import type { ErrorCode } from "../../../core/errors/error-table.ts";
import type { JsonObject } from "../../../core/json.ts";

/** A mistake in an expression, with its place in the text of the expression. */
export interface ExpressionFault {
  readonly code: ErrorCode;
  readonly message: string;
  readonly remedy?: string;
  readonly offset: number;
  readonly length: number;
}

/** A piece of the expression's text; the end is exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface FaultTexts {
  readonly message: string;
  readonly remedy?: string | undefined;
  readonly code?: ErrorCode;
}

export function toFault(at: Span, { message, remedy, code = "EXPRESSION_INVALID" }: FaultTexts): ExpressionFault {
  return { code, message, remedy, offset: at.start, length: at.end - at.start };
}

/** The names that an expression may use at its place. */
export interface ExpressionScope {
  /** Ids of the steps that can be seen from here. */
  readonly steps: ReadonlySet<string>;
  /** Loop variables by name; `name` is the id of the step that loops. */
  readonly locals: ReadonlyMap<string, { readonly root: "item" | "index"; readonly name: string }>;
  /** Variables of the run: `vars.NAME`. */
  readonly variables?: ReadonlySet<string>;
  /** `step.output`: in conditions and `outputMapping`. */
  readonly allowsOutput: boolean;
  /** `step.attempt`: in conditions of `retryPolicy`. */
  readonly allowsAttempt?: boolean;
  /** `error`: inside of `catch`. */
  readonly allowsError: boolean;
  readonly workflowId: string;
  /** What comes in. Absent: nothing is declared, or names may lead nowhere. */
  readonly payload?: JsonObject | undefined;
  /** The schemas of what steps put out, where they are known. */
  readonly outputs?: ReadonlyMap<string, JsonObject> | undefined;
}
