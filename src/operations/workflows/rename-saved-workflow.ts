import type { LibraryApplication } from "../application/library-application.ts";
import { notSaved } from "./show-saved-workflow.ts";

/**
 * Gives a saved workflow another name. Workflows that call it by the old one are not looked for. Throws
 * `WORKFLOW_NOT_FOUND`, `LIBRARY_NAME_REFUSED`, `LIBRARY_DAMAGED`, `LIBRARY_LOCKED`, `LIBRARY_UNWRITABLE`.
 */
export async function renameSavedWorkflow(app: LibraryApplication, name: string, to: string): Promise<void> {
  if (!(await (await app.libraryEditor()).rename(name, to))) throw notSaved(name);
}
