import type { OpenApplication } from "../../../operations/application.ts";
import { compareRuns } from "../../../operations/compare-runs.ts";
import { deleteRun } from "../../../operations/delete-run.ts";
import { type CommonOptions, formatOf, pageOptions } from "../cli-context.ts";
import { print, printEnvelope, tell } from "../print.ts";

/** `pawl runs diff`. */
export async function diffRuns(
  app: OpenApplication,
  { a, b }: { readonly a: string; readonly b: string },
  options: CommonOptions,
): Promise<number> {
  const comparison = await compareRuns(app, a, b);
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
  if (formatOf(options) !== "text") printEnvelope({ run_id: removed });
  else tell(`Deleted ${removed}. Values over 64 kB that it stored stay, since others may share them.`);
  // As the owner this process may have taken up other runs: they are laid down in good order.
  await app.park(AbortSignal.abort());
  return 0;
}
