import type { ErrorCode } from "../../../core/errors/error-table.ts";

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
