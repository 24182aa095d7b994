import type { OpenApplication } from "../../../operations/application/application.ts";
import { compareRuns, type RunComparison } from "../../../operations/runs/compare-runs.ts";
import { deleteRun } from "../../../operations/runs/delete-run.ts";
import { type CommonOptions, formatOf, pageOptions } from "../cli-context.ts";
import { print, printEnvelope, tell } from "../print.ts";

/** `pawl runs diff`. */
export async function diffRuns(
  app: OpenApplication,
  { a, b }: { readonly a: string; readonly b: string },
  options: CommonOptions,
): Promise<number> {
  return showComparison(await compareRuns(app, a, b), options);
}

export async function showComparison(comparison: RunComparison, options: CommonOptions): Promise<number> {
  if (formatOf(options) !== "text") printEnvelope(comparison);
  else {
    const { renderComparison } = await import("../render/render-comparison.ts");
    print(renderComparison(comparison, pageOptions()));
  }
  return 0;
}

/** `pawl runs rm`: a run that has ended. */
export async function removeRun(app: OpenApplication, id: string, options: CommonOptions): Promise<number> {
  const removed = await deleteRun(app, id);
  showRemovedRun(removed, options);
  // As the owner this process may have taken up other runs: they are laid down in good order.
  await app.park(AbortSignal.abort());
  return 0;
}

export function showRemovedRun(id: string, options: CommonOptions): void {
  if (formatOf(options) !== "text") printEnvelope({ run_id: id });
  else tell(`Deleted ${id}. Values over 64 kB that it stored stay, since others may share them.`);
}
