import { PawlError } from "../../core/errors/pawl-error.ts";
import { outsideOfSides } from "../../core/graph/step-path.ts";
import { didYouMean } from "../../dialects/did-you-mean.ts";
import type { RunReading } from "../runs/describe/describe-run-reading.ts";
import { type StepEntry, StepTree } from "../runs/describe/step-tree.ts";

/**
 * The path at which a rerun begins: `from_step` is a path, a fan-out as a whole, or a step's id where that is one step. The
 * empty path is the whole run. Throws `STEP_NOT_FOUND`, and `USAGE` with the paths where an id is several steps.
 */
export function findRerunStep(reading: RunReading, wanted: string | undefined): string {
  return wanted === undefined ? firstToRepeat(reading) : findStep(reading, wanted);
}

/**
 * The step that failed first, if nothing has answered its failure. If none has failed, the first one not done; for a
 * completed run, everything.
 */
function firstToRepeat({ history, record }: RunReading): string {
  if (record.status === "completed") return "";
  const [failed] = history.state.failures;
  if (failed !== undefined) return outsideOfSides(failed.path);
  for (const { path, status, scope, history: begun } of new StepTree(history).entries()) {
    // A machine goes on without the items that it has left out.
    const isDue = begun !== undefined || scope.flow.flow.kind === "dag";
    if (isDue && status !== "completed" && status !== "failed") return outsideOfSides(path);
  }
  return "";
}

function findStep({ history, record }: RunReading, wanted: string): string {
  const entries = [...new StepTree(history).entries()];
  if (entries.some(({ path }) => path === wanted)) return wanted;
  if (entries.some((entry) => wholeOf(entry) === wanted)) return wanted;
  const named = entries.filter(({ step }) => step.step.id === wanted || step.escapedId === wanted);
  const paths = [...new Set(named.map(wholeOf))];
  const outer = paths.filter((path) => !paths.some((other) => path.startsWith(`${other}/`)));
  const [only] = outer;
  if (only !== undefined && outer.length === 1) return only;
  if (only !== undefined)
    throw new PawlError("USAGE", {
      message: `"${wanted}" is ${outer.length} steps of the run ${record.id}.`,
      remedy: `Name one of: ${outer.slice(0, MAX_NAMED).join(", ")}.`,
      details: { paths: outer.slice(0, MAX_LISTED) },
    });
  throw unknownStep(record.id, wanted, entries);
}

const MAX_NAMED = 10;
const MAX_LISTED = 1_000;

/** Without its place in a fan-out: all items. */
function wholeOf({ path, item }: StepEntry): string {
  return item < 0 ? path : path.slice(0, path.lastIndexOf("["));
}

function unknownStep(runId: string, wanted: string, entries: readonly StepEntry[]): PawlError {
  const names = new Set(entries.slice(0, MAX_LISTED).flatMap((entry) => [entry.path, entry.step.step.id]));
  const meant = didYouMean(wanted, names);
  const known = [...new Set(entries.map(wholeOf))].slice(0, MAX_NAMED);
  return new PawlError("STEP_NOT_FOUND", {
    message: `The run ${runId} has no step "${wanted}".`,
    remedy: meant === undefined ? `Its steps are: ${known.join(", ")}.` : `Did you mean "${meant}"?`,
  });
}
