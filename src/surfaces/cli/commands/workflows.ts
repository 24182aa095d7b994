import type { OpenApplication } from "../../../operations/application.ts";
import { listSavedWorkflows } from "../../../operations/list-saved-workflows.ts";
import { removeSavedWorkflow } from "../../../operations/remove-saved-workflow.ts";
import { renameSavedWorkflow } from "../../../operations/rename-saved-workflow.ts";
import { showSavedWorkflow } from "../../../operations/show-saved-workflow.ts";
import { type CommonOptions, formatOf, pageOptions } from "../cli-context.ts";
import { print, printEnvelope, tell } from "../print.ts";

/** `pawl workflows ls`. */
export async function listWorkflows(app: OpenApplication, options: CommonOptions): Promise<number> {
  const items = await listSavedWorkflows(app);
  if (formatOf(options) !== "text") printEnvelope({ items, next_cursor: null });
  else {
    const { renderSavedWorkflows } = await import("../render/render-saved-workflows.ts");
    print(renderSavedWorkflows(items, pageOptions()));
  }
  return 0;
}

/** `pawl workflows show`: the definition, ready to be edited and run. */
export async function showWorkflow(app: OpenApplication, name: string, options: CommonOptions): Promise<number> {
  const saved = await showSavedWorkflow(app, name);
  if (formatOf(options) !== "text") printEnvelope(saved);
  else print(JSON.stringify(saved.definition, null, 2));
  return 0;
}

/** `pawl workflows rm`. */
export async function removeWorkflow(app: OpenApplication, name: string, options: CommonOptions): Promise<number> {
  await removeSavedWorkflow(app, name);
  if (formatOf(options) !== "text") printEnvelope({ name });
  else tell(`Removed ${name}.`);
  return 0;
}

interface Renaming {
  readonly name: string;
  readonly to: string;
}

/** `pawl workflows rename`. */
export async function renameWorkflow(
  app: OpenApplication,
  { name, to }: Renaming,
  options: CommonOptions,
): Promise<number> {
  await renameSavedWorkflow(app, name, to);
  if (formatOf(options) !== "text") printEnvelope({ name: to });
  else tell(`Renamed ${name} to ${to}. Workflows that call it by its old name are as they were.`);
  return 0;
}
