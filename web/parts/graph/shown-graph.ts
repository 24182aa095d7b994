import type { OutputOf } from "pawl/client";

/** What a workflow does in which order, as every route tells it that knows. */
export type ShownGraph = OutputOf<"GET /runs/{id}/graph/explained">;
export type ShownFlow = ShownGraph["flow"];
export type ShownStep = ShownFlow["steps"][number];

/** How a step is doing in a run, all its visits and items together. */
export interface StepStatus {
  readonly status: string;
  /** Of a fan-out, and of what follows one. `total`: null while it is not known. */
  readonly items?: { readonly total: number | null; readonly byStatus: Readonly<Record<string, number>> };
  /** How often a step of a loop has been visited. */
  readonly visits?: number;
}

/**
 * The key of the step that a path of a run is an instance of: `batch#1[2]/fetch[7]` is one of `batch/fetch`, and
 * `fetch~catch/mend` one of `fetch~catch/mend`.
 */
export function toStepKey(path: string): string {
  return path.replace(/#\d+|\[\d+\]/g, "");
}

/** The same escape as in paths of runs, so that a key and a path meet. */
export function keyOfStep(scope: string, id: string): string {
  const escaped = id.replace(/[^\p{L}\p{N}_.-]/gu, (char) => {
    const code = char.codePointAt(0) ?? 0;
    if (code >= 0xd800 && code <= 0xdfff) return "%EF%BF%BD";
    return code < 128 ? `%${code.toString(16).toUpperCase().padStart(2, "0")}` : encodeURIComponent(char);
  });
  return scope === "" ? escaped : `${scope}/${escaped}`;
}

export function countSteps(flow: ShownFlow): number {
  return flow.steps.reduce(
    (sum, { flow: body, catch: onFailure, finally: atEnd }) =>
      sum + 1 + [body, onFailure, atEnd].reduce((inside, each) => inside + (each ? countSteps(each) : 0), 0),
    0,
  );
}
