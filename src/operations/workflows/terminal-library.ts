import { PawlError } from "../../core/errors/pawl-error.ts";
import { writeExact } from "../../core/exact-json.ts";
import type { SavedWorkflow } from "../../ports/terminals/workflow-library.ts";
import type { Library, Ports } from "../application/ports.ts";

type LibraryApplication = Pick<Ports, "workflowLibrary" | "tenantId">;

/** The folder of workflows that have succeeded in terminals, relative to the application. */
const FOLDER = ".terminal_control_workflows/";

/** Workflows that terminals have kept, by their files as the application lists them. A tenant sees those files, and no more. */
export async function listKept(app: LibraryApplication): Promise<ReadonlyMap<string, SavedWorkflow>> {
  if (app.tenantId !== undefined) return new Map();
  const kept = await (await app.workflowLibrary()).list();
  return new Map(kept.map((each) => [`${FOLDER}${each.name}.json`, each]));
}

export async function findKept(app: LibraryApplication, name: string): Promise<SavedWorkflow | undefined> {
  return (await listKept(app)).get(`${FOLDER}${name}.json`);
}

/** Its definition as a text. Throws `WORKFLOW_NOT_FOUND`, `LIBRARY_DAMAGED`. */
export async function readKept(app: LibraryApplication, name: string): Promise<string> {
  const definition = await (await app.workflowLibrary()).load(name);
  if (definition === undefined) throw notKept(name);
  return writeExact(definition, 2);
}

type EditingApplication = Pick<Library, "libraryEditor">;

/** Throws `WORKFLOW_NOT_FOUND`, `LIBRARY_LOCKED`, `LIBRARY_UNWRITABLE`. */
export async function removeKept(app: EditingApplication, name: string): Promise<void> {
  if (!(await (await app.libraryEditor()).remove(name))) throw notKept(name);
}

/**
 * Gives it another name. Workflows that call it by the old one are not looked for. Throws `WORKFLOW_NOT_FOUND`,
 * `LIBRARY_NAME_REFUSED`, `LIBRARY_DAMAGED`, `LIBRARY_LOCKED`, `LIBRARY_UNWRITABLE`.
 */
export async function renameKept(app: EditingApplication, name: string, to: string): Promise<void> {
  if (!(await (await app.libraryEditor()).rename(name, to))) throw notKept(name);
}

function notKept(name: string): PawlError {
  return new PawlError("WORKFLOW_NOT_FOUND", {
    message: `No workflow "${name}" is saved.`,
    remedy: "List those that are with `pawl workflows ls`.",
  });
}
