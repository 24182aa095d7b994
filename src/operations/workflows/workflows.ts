import { z } from "zod";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { DefinitionPorts, Library } from "../application/ports.ts";
import { findSaved } from "../definitions/saved-definitions.ts";
import {
  type SavedWorkflowVersion,
  savedVersionSchema,
  versionSchema,
  workflowSchema,
  workflowSummarySchema,
} from "../definitions/workflow-schemas.ts";
import { defineOperation, type OperationContext } from "../operation.ts";
import { idField, listOf, numberedPage, offsetQuery, pageQuery, takePage, takePageAfter } from "../schemas.ts";
import { keyOf, listWorkflows as list } from "./list-workflows.ts";
import { listVersions, removeWorkflow as remove, saveWorkflow as save } from "./save-workflow.ts";
import { showWorkflow as show } from "./show-workflow.ts";
import { findKept, removeKept, renameKept } from "./terminal-library.ts";

const name = idField("The name of a workflow.", "workflows ls");
const text = z.string().min(1).describe("A definition in any of the formats.");

export const listWorkflows = defineOperation({
  id: "listWorkflows",
  summary: "List workflows that can be started by name",
  scope: "read",
  effect: "reads",
  input: z.strictObject({ ...pageQuery, ...offsetQuery }),
  output: listOf(workflowSummarySchema),
  http: { method: "GET", path: "/workflows" },
  cli: {
    verb: "workflows ls",
    summary: "list what can be run by its name, and the terminal library",
    perTenant: true,
    isWhole: true,
    view: "workflows",
  },
  mcp: {
    tool: "list_workflows",
    title: "List workflows",
    description: "Workflows that can be run by their name, with the schema of their input.",
    limit: { usual: 20, most: 100 },
  },
  word: ({ name, description, dialect }) => ({ text: name, meaning: description ?? dialect ?? "" }),
  handle: async ({ app }: OperationContext<DefinitionPorts>, page) => takePageAfter(await list(app), keyOf, page),
  count: async ({ app }: OperationContext<DefinitionPorts>) => (await list(app)).length,
});

export const showWorkflow = defineOperation({
  id: "showWorkflow",
  summary: "Show a workflow, its definition and what it does in which order",
  scope: "read",
  effect: "reads",
  input: z.strictObject({
    name,
    version: z.coerce.number().int().min(1).optional().describe("Of a saved definition; absent: the newest."),
  }),
  output: workflowSchema,
  errors: ["WORKFLOW_NOT_FOUND", "NAME_TAKEN_TWICE", "LIBRARY_DAMAGED"],
  http: { method: "GET", path: "/workflows/{name}" },
  cli: {
    verb: "workflows show",
    summary: "show a definition, ready to be edited and run",
    perTenant: true,
    args: ["name"],
    show: (workflow) => ({ data: workflow.text }),
  },
  mcp: {
    tool: "get_workflow",
    title: "Show a workflow",
    description: "The definition of a workflow, with what it does in which order.",
    names: { name: "workflow_name" },
  },
  handle: ({ app }: OperationContext<DefinitionPorts>, input) => show(app, input.name, input.version),
});

const saving = {
  scope: "write",
  effect: { does: "writes", again: true },
  output: savedVersionSchema,
  errors: [
    "DEFINITION_INVALID",
    "DEFINITION_TOO_COSTLY",
    "PART_NOT_CHOSEN",
    "NAME_TAKEN_TWICE",
    "ROUTE_INVALID",
    "ROUTE_RESERVED",
    "ROUTE_AMBIGUOUS",
  ],
  statusOf: (saved: SavedWorkflowVersion) => (saved.is_new ? 201 : 200),
} as const;

export const saveWorkflow = defineOperation({
  ...saving,
  id: "saveWorkflow",
  summary: "Save a definition under its own name, as a new version where there is one",
  input: z.strictObject({
    text,
    name: z.string().min(1).max(200).optional().describe("Where it is given, the definition must say the same."),
  }),
  http: { method: "POST", path: "/workflows", status: 201, otherStatuses: [200] },
  cli: {
    verb: "workflows save",
    summary: "save a definition, to be run by its name; an older one stays a version",
    perTenant: true,
    args: ["text"],
    files: ["text"],
    options: { name: false },
    show: (saved) => ({
      told: [
        saved.is_new
          ? `Saved "${saved.name}" as version ${saved.version}.`
          : `"${saved.name}" says the same in version ${saved.version} already.`,
        ...saved.problems.map(({ message, remedy }) => `${String(message)} ${String(remedy)}`),
      ],
    }),
  },
  mcp: {
    tool: "save_workflow",
    title: "Save a workflow",
    description:
      "Saves a definition under the name that it says, to be run by it; what had the name becomes an older version. A " +
      "definition with problems is not saved: they are told.",
    names: { text: "yaml_content" },
  },
  handle: ({ app }: OperationContext<DefinitionPorts>, input) => save(app, input),
});

export const putWorkflow = defineOperation({
  ...saving,
  id: "putWorkflow",
  summary: "Save a definition whose name is known",
  input: z.strictObject({ name, text }),
  http: { method: "PUT", path: "/workflows/{name}", status: 201, otherStatuses: [200] },
  cli: { no: "`workflows save` reads the name from the definition." },
  mcp: { no: "`save_workflow` takes a name as well." },
  handle: ({ app }: OperationContext<DefinitionPorts>, input) => save(app, input),
});

export const listWorkflowVersions = defineOperation({
  id: "listWorkflowVersions",
  summary: "List the versions of a saved workflow, newest first",
  scope: "read",
  effect: "reads",
  input: z.strictObject({ name, ...numberedPage }),
  output: listOf(versionSchema),
  errors: ["WORKFLOW_NOT_FOUND", "NOT_SUPPORTED"],
  http: { method: "GET", path: "/workflows/{name}/versions" },
  cli: {
    verb: "workflows versions",
    summary: "list the versions of a saved one, newest first",
    perTenant: true,
    args: ["name"],
    table: {
      empty: "It has no versions.",
      right: ["VERSION"],
      columns: ({ version, saved_at }) => ({ VERSION: version, SAVED: saved_at }),
    },
  },
  mcp: {
    tool: "list_workflow_versions",
    isRare: true,
    title: "List versions of a workflow",
    description: "The versions of a saved workflow, newest first.",
    names: { name: "workflow_name" },
    without: ["limit"],
  },
  handle: async ({ app }: OperationContext<DefinitionPorts>, { name: wanted, ...page }) =>
    takePage(await listVersions(app, wanted), page),
  count: async ({ app }: OperationContext<DefinitionPorts>, input) => (await listVersions(app, input.name)).length,
});

export const removeWorkflow = defineOperation({
  id: "removeWorkflow",
  summary: "Remove a saved definition with all its versions; its runs go on",
  scope: "write",
  effect: "destroys",
  input: z.strictObject({ name }),
  output: z.object({ name: z.string() }),
  errors: ["WORKFLOW_NOT_FOUND", "NOT_SUPPORTED", "NAME_TAKEN_TWICE", "LIBRARY_LOCKED", "LIBRARY_UNWRITABLE"],
  http: { method: "DELETE", path: "/workflows/{name}" },
  cli: {
    verb: "workflows rm",
    summary: "remove a saved one with its versions, or one of the terminal library",
    perTenant: true,
    args: ["name"],
    show: (removed) => ({ told: [`Removed ${removed.name}.`] }),
  },
  mcp: {
    tool: "delete_workflow",
    isRare: true,
    title: "Delete a saved workflow",
    description: "Removes a saved workflow with all its versions. Its runs stay.",
    names: { name: "workflow_name" },
  },
  async handle({ app }: OperationContext<DefinitionPorts>, input) {
    const isKept = (await findKept(app, input.name)) !== undefined;
    if (isKept && (await findSaved(app, input.name)) !== undefined)
      throw new PawlError("NAME_TAKEN_TWICE", {
        message: `"${input.name}" is in the library of terminal workflows and saved through the service.`,
        remedy: `Rename the first: pawl workflows rename ${input.name} NEW-NAME`,
      });
    await (isKept ? removeKept(app, input.name) : remove(app, input.name));
    return { name: input.name };
  },
});

export const renameWorkflow = defineOperation({
  id: "renameWorkflow",
  summary: "Give one of the terminal library another name",
  scope: "write",
  effect: "writes",
  input: z.strictObject({ name, to: idField("The new name.") }),
  output: z.object({ name: z.string() }),
  errors: ["WORKFLOW_NOT_FOUND", "LIBRARY_NAME_REFUSED", "LIBRARY_DAMAGED", "LIBRARY_LOCKED", "LIBRARY_UNWRITABLE"],
  http: { no: "It renames a file of this machine." },
  cli: {
    verb: "workflows rename",
    args: ["name", "to"],
    show: ({ name: now }, { name: before }) => ({
      told: [`Renamed ${String(before)} to ${now}. Workflows that call it by its old name are as they were.`],
    }),
  },
  mcp: { no: "It renames a file of this machine." },
  async handle({ app }: OperationContext<Library>, input) {
    await renameKept(app, input.name, input.to);
    return { name: input.to };
  },
});
