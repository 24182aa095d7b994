import type { Graph } from "../../../src/core/graph/graph.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { literal, path, task, toGraph } from "../graphs.ts";

/** The task of the processes of a crash test. */
export interface CrashRuns {
  /** Each run is a fan-out of so many items. */
  readonly items: number;
  readonly runs?: number;
  /** The steps of a run, one after another. */
  readonly steps?: number;
  /** How long a step works. */
  readonly ms: number;
  /** The item, of the run of this number, that takes the process down, and after which time. */
  readonly culprit?: { readonly run: number; readonly item: number; readonly ms: number };
  /** Time runs so much faster. */
  readonly timesFaster?: number;
}

export function toGraphs({ items, runs = 1, steps = 1, ms, culprit }: CrashRuns): readonly Graph[] {
  return Array.from({ length: runs }, (_, run) => {
    const inputs = Array.from(
      { length: items },
      (_, item): JsonObject =>
        culprit?.run === run && culprit.item === item ? { ms: culprit.ms, kills: true } : { ms },
    );
    const chain = Array.from({ length: steps - 1 }, (_, n) =>
      task(`s${n + 2}`, { after: [`s${n + 1}`], input: literal({ ms }) }),
    );
    const first = task("s1", { each: { list: literal(inputs), maxConcurrent: items }, input: path("item") });
    return toGraph([first, ...chain], { name: `crashes-${run}` });
  });
}
