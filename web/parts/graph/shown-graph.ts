/** What a workflow does in which order, as `GET /workflows/{name}`, `POST /workflows/validate` and `GET /runs/{id}/graph/explained` say it. */
export interface ShownGraph {
  readonly name: string;
  readonly dialect: string;
  readonly flow: ShownFlow;
}

export interface ShownFlow {
  readonly kind: "dag" | "machine";
  /** Of a machine: the step that is visited first. */
  readonly start?: string;
  readonly steps: readonly ShownStep[];
}

export interface ShownStep {
  readonly id: string;
  readonly kind: string;
  readonly executor?: string;
  readonly description?: string;
  readonly place?: { readonly line: number; readonly column: number };
  readonly after: readonly string[];
  readonly fan_out?: { readonly over: string; readonly max_concurrent: number };
  readonly follows?: string;
  readonly when?: string;
  readonly calls?: string;
  readonly waits?: string;
  readonly approval?: { readonly message: string };
  readonly transitions?: readonly ShownTransition[];
  readonly flow?: ShownFlow;
  readonly catch?: ShownFlow;
  readonly finally?: ShownFlow;
}

interface ShownTransition {
  readonly on: "success" | "failure" | "any";
  readonly when?: string;
  /** A step, or `end (success)`, `end (failure)`. */
  readonly to: string;
}

/** How a step is doing in a run, all its visits and items together. */
export interface StepStatus {
  readonly status: string;
  /** Of a fan-out, and of what follows one. `total`: null while it is not known. */
  readonly items?: { readonly total: number | null; readonly byStatus: Readonly<Record<string, number>> };
  /** How often a step of a loop has been visited. */
  readonly visits?: number;
}

/** The routes answer with it as `unknown`; what is no graph is none. */
export function toShownGraph(answer: unknown): ShownGraph | undefined {
  if (typeof answer !== "object" || answer === null || !("flow" in answer)) return undefined;
  const { flow } = answer;
  return typeof flow === "object" && flow !== null && "steps" in flow && Array.isArray(flow.steps)
    ? (answer as ShownGraph)
    : undefined;
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
