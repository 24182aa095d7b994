import type { CallReport, Failure, Handle, Instance, Scope } from "../../history/run-state.ts";
import type { JsonObject } from "../../json.ts";

/** The caller wants to know how the called run ended rather than to fail with it. */
export function isReported({ step: { step } }: Instance): boolean {
  return step.kind === "call" && step.reports === true;
}

export interface CallEnd {
  /** The called run; undefined where it never began. */
  readonly scope: Scope | undefined;
  readonly output: Handle;
  readonly failure: Failure | undefined;
  readonly now: number;
}

export function reportOn(instance: Instance, { scope, output, failure, now }: CallEnd): Handle {
  const step = scope?.visited === undefined ? undefined : scope.flow.steps[scope.visited]?.step.id;
  const report: CallReport = {
    output,
    failure,
    hasTimedOut: failure !== undefined && failure === instance.failure,
    step,
    visits: scope?.visits ?? 0,
    depth: scope === undefined ? 0 : scope.frame.deepest - scope.frame.depth,
    elapsedMs: now - instance.startedAt,
    timeoutMs: scope?.frame.timeoutMs,
    variables: scope === undefined ? {} : reportedVariables(scope),
  };
  return { kind: "report", report };
}

function reportedVariables({ flow, variables }: Scope): JsonObject {
  const names = flow.flow.kind === "machine" ? (flow.flow.reported ?? []) : [];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = variables.get(name)?.value;
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
