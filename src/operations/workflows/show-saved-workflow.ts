import { PawlError } from "../../core/errors/pawl-error.ts";
import type { JsonObject } from "../../core/json.ts";
import type { LibraryApplication } from "../application/library-application.ts";
import { type SavedWorkflowSummary, summarizeSaved } from "./list-saved-workflows.ts";

export interface SavedWorkflowDescription extends SavedWorkflowSummary {
  readonly definition: JsonObject;
}

/** Throws `WORKFLOW_NOT_FOUND`, `LIBRARY_DAMAGED`. */
export async function showSavedWorkflow(app: LibraryApplication, name: string): Promise<SavedWorkflowDescription> {
  const library = await app.workflowLibrary();
  const definition = await library.load(name);
  if (definition === undefined) throw notSaved(name);
  const listed = (await library.list()).find((saved) => saved.name === name);
  const summary = listed ?? { name, description: "", created: "", successCount: 0 };
  return { ...summarizeSaved(summary), definition };
}

export function notSaved(name: string): PawlError {
  return new PawlError("WORKFLOW_NOT_FOUND", {
    message: `No workflow "${name}" is saved.`,
    remedy: "List those that are with `pawl workflows ls`.",
  });
}
