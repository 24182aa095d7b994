import type { Expr } from "../../core/expressions/expr.ts";
import { call, first, literal, oneOf, output } from "../build-expr.ts";
import type { Range } from "../source/source-text.ts";
import { EXECUTION_TIMED_OUT, stateTimedOut, TOO_DEEP } from "./messages.ts";
import type { State } from "./workflow-shape.ts";

/** A state with what its result depends on. */
export interface NamedState {
  readonly name: string;
  /** The place of the name. */
  readonly at: Range;
  readonly state: State;
  /** Seconds after which the state itself gives up; undefined where only what it calls has a limit. */
  readonly timeoutSeconds: number | undefined;
}

/**
 * A field of a state's result, where the result of its tool has just arrived as `output`. A state that has failed or timed
 * out has a result as well: `{success: false, error, error_code, timeout_occurred?}`.
 */
export function resultField(state: NamedState, field: string): Expr {
  return state.state.action.tool === "run_workflow" ? fieldOfCall(state, field) : fieldOfTool(state, field);
}

export function hasTimedOut(state: NamedState): Expr {
  return first(resultField(state, "timeout_occurred"), literal(false));
}

function fieldOfTool(state: NamedState, field: string): Expr {
  const code = output("error", "code");
  switch (field) {
    case "success":
      return first(output("success"), literal(false));
    case "error":
      return first(
        oneOf([["TIMEOUT", literal(stateTimedOut(state.name, state.timeoutSeconds ?? 0))]], code),
        output("error", "message"),
        output("error"),
      );
    case "error_code":
      return first(code, output("error_code"));
    case "timeout_occurred":
      return oneOf([["TIMEOUT", literal(true)]], code);
    default:
      return output(field);
  }
}

/** The core's report on the called run, in the words of the tool's result. */
function fieldOfCall(state: NamedState, field: string): Expr {
  switch (field) {
    case "success":
      return output("success");
    case "error":
      return errorOfCall(state);
    case "error_code":
      return output("error", "code");
    case "timeout_occurred":
      return timeoutOfCall(state);
    case "final_state":
      return first(
        output("step"),
        oneOf(
          [
            ["true", literal("completed")],
            ["false", literal("error")],
          ],
          call("toString", output("success")),
        ),
      );
    case "states_executed":
      return output("visits");
    case "total_elapsed_time":
      return output("elapsed_seconds");
    case "recursion_depth":
      return output("depth");
    case "session_id":
      return output("variables", "session_id");
    case "workflow_saved":
      return literal(false);
    case "output":
      return output("output");
    default:
      return literal(null);
  }
}

function errorOfCall(state: NamedState): Expr {
  const timeOuts = oneOf(
    [
      ["TIMEOUT", literal(stateTimedOut(state.name, state.timeoutSeconds ?? 0))],
      [
        "RUN_TIMEOUT",
        {
          op: "text",
          parts: [
            EXECUTION_TIMED_OUT.before,
            { value: output("timeout_seconds"), written: "" },
            EXECUTION_TIMED_OUT.after,
          ],
        },
      ],
    ],
    whereTimedOut(output("error", "code")),
  );
  const tooDeep = oneOf(
    [["MAX_DEPTH", { op: "text", parts: [`${TOO_DEEP}. `, { value: output("error", "message"), written: "" }] }]],
    output("error", "code"),
  );
  return first(timeOuts, tooDeep, output("error", "message"));
}

/** A state without a time-out of its own has that of the called workflow. */
function timeoutOfCall({ timeoutSeconds }: NamedState): Expr {
  const codes: readonly (readonly [string, Expr])[] = [
    ["TIMEOUT", literal(true)],
    ...(timeoutSeconds === undefined ? [["RUN_TIMEOUT", literal(true)] as const] : []),
  ];
  return oneOf(codes, whereTimedOut(output("error", "code")));
}

/** The called workflow may fail with the same code for reasons of its own. */
function whereTimedOut(value: Expr): Expr {
  return oneOf([["true", value]], call("toString", output("timed_out")));
}
