import type { Graph } from "../../../core/graph/graph.ts";

/** How much is kept of references that led nowhere. */
const MAX_MISSING = 20;
const MAX_MISSING_CHARS = 200;

/** Facts that dialects pass on where a request has them. */
const MAY_BE_ABSENT: ReadonlySet<string> = new Set([
  "input.context.appId",
  "input.context.traceId",
  "input.context.mcp_endpoint",
  "input.requestId",
  "input.session_id",
]);

/** References that lead nowhere, as they are written. A definition may say that they are meant so. */
export class MissingReferences {
  readonly #noted = new Set<string>();
  readonly #isLenient: boolean;

  constructor({ settings }: Pick<Graph, "settings">) {
    this.#isLenient = settings["references"] === "lenient";
  }

  readonly noteMissing = (written: string): void => {
    if (this.#isLenient || this.#noted.size >= MAX_MISSING || MAY_BE_ABSENT.has(written)) return;
    // As UHLP writes it.
    this.#noted.add(written.replace(/^input\.requestData\./, "trigger.").slice(0, MAX_MISSING_CHARS));
  };

  readonly toEvent = (): { readonly missing?: readonly string[] } =>
    this.#noted.size === 0 ? {} : { missing: [...this.#noted] };
}

/** Of an outcome's input, and of what conditions compare of the outcome. */
export function joinMissing(...lists: readonly (readonly string[] | undefined)[]): {
  readonly missing?: readonly string[];
} {
  const all = lists.flatMap((list = []) => list);
  return all.length === 0 ? {} : { missing: [...new Set(all)] };
}
