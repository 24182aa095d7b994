import type { SavedWorkflow } from "../../ports/workflow-library.ts";
import type { LibraryApplication } from "../application/library-application.ts";

/** A workflow of the library, with the names that its index uses. */
export interface SavedWorkflowSummary {
  readonly name: string;
  readonly description: string;
  readonly created: string;
  readonly success_count: number;
}

/** In the order in which they were saved. */
export async function listSavedWorkflows(app: LibraryApplication): Promise<readonly SavedWorkflowSummary[]> {
  return (await (await app.workflowLibrary()).list()).map(summarizeSaved);
}

export function summarizeSaved({ name, description, created, successCount }: SavedWorkflow): SavedWorkflowSummary {
  return { name, description, created, success_count: successCount };
}
