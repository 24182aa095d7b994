import type { LibraryApplication } from "../application/library-application.ts";
import { notSaved } from "./show-saved-workflow.ts";

/** Throws `WORKFLOW_NOT_FOUND`, `LIBRARY_LOCKED`, `LIBRARY_UNWRITABLE`. */
export async function removeSavedWorkflow(app: LibraryApplication, name: string): Promise<void> {
  if (!(await (await app.libraryEditor()).remove(name))) throw notSaved(name);
}
