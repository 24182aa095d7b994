import { readFile } from "node:fs/promises";
import { text as readText } from "node:stream/consumers";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { Application, OpenApplication } from "../../../operations/application/application.ts";
import { forTenant } from "../../../operations/application/tenant-application.ts";
import { listSavedWorkflows } from "../../../operations/workflows/list-saved-workflows.ts";
import { listWorkflows } from "../../../operations/workflows/list-workflows.ts";
import { removeSavedWorkflow } from "../../../operations/workflows/remove-saved-workflow.ts";
import { renameSavedWorkflow } from "../../../operations/workflows/rename-saved-workflow.ts";
import {
  listVersions,
  removeWorkflow,
  type SavedVersion,
  type SavedWorkflowVersion,
  saveWorkflow,
} from "../../../operations/workflows/save-workflow.ts";
import { findSaved } from "../../../operations/workflows/saved-definitions.ts";
import { showSavedWorkflow } from "../../../operations/workflows/show-saved-workflow.ts";
import { showWorkflow } from "../../../operations/workflows/show-workflow.ts";
import { type CommonOptions, formatOf, pageOptions } from "../cli-context.ts";
import { print, printEnvelope, tell } from "../print.ts";
import { io } from "../process-io.ts";
import { sanitize } from "../render/sanitize.ts";

export interface WorkflowOptions extends CommonOptions {
  readonly tenant?: string;
}

export interface ShowWorkflowOptions extends WorkflowOptions {
  readonly version?: number;
}

const LIBRARY_FOLDER = ".terminal_control_workflows/";

/** `pawl workflows ls`: of files and of the service, and the library of terminal workflows. */
export async function listWorkflowsCommand(app: OpenApplication, options: WorkflowOptions): Promise<number> {
  const library = options.tenant === undefined ? await listSavedWorkflows(app) : [];
  // The library's files have names as well: they are told with what the library knows of them.
  const named = (await listWorkflows(seenBy(app, options))).filter(
    ({ file }) => file === null || !file.startsWith(LIBRARY_FOLDER),
  );
  if (formatOf(options) !== "text") {
    const items = [...named, ...library.map((saved) => ({ ...saved, source: "terminal library" }))];
    printEnvelope({ items, next_cursor: null });
    return 0;
  }
  const [{ renderWorkflows }, { renderSavedWorkflows }] = await Promise.all([
    import("../render/render-workflows.ts"),
    import("../render/render-saved-workflows.ts"),
  ]);
  if (named.length > 0) print(`${renderWorkflows(named, pageOptions())}\n`);
  print(renderSavedWorkflows(library, pageOptions()));
  return 0;
}

/** `pawl workflows show`: the definition, ready to be edited and run. */
export async function showWorkflowCommand(
  app: OpenApplication,
  name: string,
  options: ShowWorkflowOptions,
): Promise<number> {
  const isListed = (await listSavedWorkflows(app)).some((saved) => saved.name === name);
  if (isListed && options.tenant === undefined && options.version === undefined) {
    const saved = await showSavedWorkflow(app, name);
    if (formatOf(options) !== "text") printEnvelope(saved);
    else print(JSON.stringify(saved.definition, null, 2));
    return 0;
  }
  const shown = await showWorkflow(seenBy(app, options), name, options.version);
  if (formatOf(options) !== "text") printEnvelope(shown);
  else print(shown.text.replace(/\n$/, ""));
  return 0;
}

/** `pawl workflows save`: from a file, or from stdin where it is `-`; it is run by its name from anywhere then. */
export async function saveWorkflowCommand(
  app: OpenApplication,
  file: string,
  options: WorkflowOptions,
): Promise<number> {
  return showSaved(await saveWorkflow(seenBy(app, options), { text: await readDefinition(file) }), options);
}

export function showSaved(saved: SavedWorkflowVersion, options: CommonOptions): number {
  if (formatOf(options) !== "text") printEnvelope(saved);
  else {
    const { name, version, is_new: isNew } = saved;
    tell(isNew ? `Saved "${name}" as version ${version}.` : `"${name}" says the same in version ${version} already.`);
    for (const { message, remedy } of saved.problems) tell(sanitize(`${String(message)} ${String(remedy)}`));
  }
  return 0;
}

/** `pawl workflows versions`: newest first. */
export async function listVersionsCommand(
  app: OpenApplication,
  name: string,
  options: WorkflowOptions,
): Promise<number> {
  return showVersions(await listVersions(seenBy(app, options), name), options);
}

export function showVersions(items: readonly SavedVersion[], options: CommonOptions): number {
  if (formatOf(options) !== "text") printEnvelope({ items, next_cursor: null });
  else for (const { version, saved_at: at } of items) print(`${String(version).padStart(4)}  ${at}`);
  return 0;
}

/** `pawl workflows rm`. Throws `NAME_TAKEN_TWICE` where it is not said which is meant. */
export async function removeWorkflowCommand(
  app: OpenApplication,
  name: string,
  options: WorkflowOptions,
): Promise<number> {
  const isListed = options.tenant === undefined && (await listSavedWorkflows(app)).some((saved) => saved.name === name);
  const isSaved = options.tenant !== undefined || (await findSaved(app, name)) !== undefined;
  if (isListed && isSaved) {
    throw new PawlError("NAME_TAKEN_TWICE", {
      message: `"${name}" is in the library of terminal workflows and saved through the service.`,
      remedy: `Rename the first: pawl workflows rename ${name} NEW-NAME`,
    });
  }
  if (isSaved) await removeWorkflow(seenBy(app, options), name);
  else await removeSavedWorkflow(app, name);
  if (formatOf(options) !== "text") printEnvelope({ name });
  else tell(`Removed ${name}.`);
  return 0;
}

interface Renaming {
  readonly name: string;
  readonly to: string;
}

/** `pawl workflows rename`: of the library of terminal workflows. */
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

function seenBy(app: OpenApplication, { tenant }: WorkflowOptions): Application {
  return tenant === undefined ? app : forTenant(app, tenant);
}

/** Of a file, or of stdin where it is `-`. */
export async function readDefinition(file: string): Promise<string> {
  return file === "-" ? readText(io().stdin) : readSource(file);
}

async function readSource(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    throw new PawlError("FILE_NOT_FOUND", { message: `File not found: ${file}`, cause });
  }
}
