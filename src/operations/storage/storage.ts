import { z } from "zod";
import type { Stores } from "../application/ports.ts";
import { defineOperation, type OperationContext } from "../operation.ts";
import { bytesSchema, idField, listOf, offsetQuery, pageQuery, takePageAfter } from "../schemas.ts";
import { listArtifacts as listProduced, readArtifact as readProduced } from "./list-artifacts.ts";
import {
  listStoredFiles as list,
  readStoredFile as read,
  removeStoredFile as remove,
  type StoredFile,
  storedFileSchema,
  writeStoredFile as write,
} from "./stored-files.ts";

const BYTES = "application/octet-stream";
const NO_MODEL = { no: "Files of any size and kind; models are given what runs put out." };

const id = idField("The run's id, or the beginning of it.", "runs ls");
const path = z.string().min(1).describe("May have slashes.");
const pathOf = (file: StoredFile) => file.path;

export const listStoredFiles = defineOperation({
  id: "listStoredFiles",
  summary: "List stored files, by path",
  scope: "read",
  effect: "reads",
  input: z.strictObject({
    ...pageQuery,
    ...offsetQuery,
    prefix: z.string().max(1_000).default("").describe("How their paths begin."),
  }),
  output: listOf(storedFileSchema),
  http: { method: "GET", path: "/storage" },
  cli: {
    verb: "storage ls",
    summary: "list stored files",
    perTenant: true,
    isWhole: true,
    args: ["prefix"],
    optional: ["prefix"],
    show: ({ items }) =>
      items.length === 0
        ? { told: ["No stored files. Store one: pawl storage put PATH FILE"] }
        : { data: items.map(toLine).join("\n") },
  },
  mcp: NO_MODEL,
  handle: async ({ app }: OperationContext<Stores>, { prefix, ...page }) =>
    takePageAfter(await list(app, prefix), pathOf, page),
  count: async ({ app }: OperationContext<Stores>, { prefix }) => (await list(app, prefix)).length,
});

function toLine({ modified_at: modifiedAt, bytes, path }: StoredFile): string {
  return `${modifiedAt}  ${String(bytes).padStart(10)}  ${path}`;
}

export const readStoredFile = defineOperation({
  id: "readStoredFile",
  summary: "Download a stored file",
  scope: "read",
  effect: "reads",
  input: z.strictObject({ path }),
  output: bytesSchema,
  errors: ["STORAGE_MISSING", "STORAGE_PATH_INVALID"],
  http: { method: "GET", path: "/storage/{path}", answers: BYTES },
  cli: { verb: "storage get", summary: "write a stored file to stdout", perTenant: true, args: ["path"] },
  mcp: NO_MODEL,
  handle: ({ app }: OperationContext<Stores>, input) => read(app, input.path),
});

export const writeStoredFile = defineOperation({
  id: "writeStoredFile",
  summary: "Store a file; the body is its content, whatever its media type",
  scope: "write",
  effect: { does: "writes", again: true },
  input: z.strictObject({ path, content: bytesSchema }),
  output: z.object({ path: z.string(), bytes: z.number().int() }),
  errors: ["STORAGE_PATH_INVALID"],
  http: { method: "PUT", path: "/storage/{path}", takes: BYTES },
  cli: {
    verb: "storage put",
    summary: "store a file",
    perTenant: true,
    args: ["path", "content"],
    files: ["content"],
    show: (stored) => ({ told: [`Stored ${stored.path}.`] }),
  },
  mcp: NO_MODEL,
  /** Readers see the old file or the new one. */
  async handle({ app }: OperationContext<Stores>, input) {
    await write(app, input.path, input.content);
    return { path: input.path, bytes: input.content.byteLength };
  },
});

export const removeStoredFile = defineOperation({
  id: "removeStoredFile",
  summary: "Remove a stored file",
  scope: "write",
  effect: "destroys",
  input: z.strictObject({ path }),
  output: z.object({ path: z.string() }),
  errors: ["STORAGE_MISSING", "STORAGE_PATH_INVALID"],
  http: { method: "DELETE", path: "/storage/{path}" },
  cli: {
    verb: "storage rm",
    perTenant: true,
    args: ["path"],
    show: (removed) => ({ told: [`Removed ${removed.path}.`] }),
  },
  mcp: NO_MODEL,
  async handle({ app }: OperationContext<Stores>, input) {
    await remove(app, input.path);
    return { path: input.path };
  },
});

export const listArtifacts = defineOperation({
  id: "listArtifacts",
  summary: "List the files that a run has produced",
  topic: "runs",
  scope: "read",
  effect: "reads",
  input: z.strictObject({ id, ...pageQuery, ...offsetQuery }),
  output: listOf(storedFileSchema),
  errors: ["RUN_NOT_FOUND", "RUN_AMBIGUOUS"],
  http: { method: "GET", path: "/runs/{id}/artifacts" },
  cli: { byHand: ["runs show"] },
  mcp: NO_MODEL,
  handle: async ({ app }: OperationContext<Stores>, { id: run, ...page }) =>
    takePageAfter(await listProduced(app, run), pathOf, page),
  count: async ({ app }: OperationContext<Stores>, input) => (await listProduced(app, input.id)).length,
});

export const readArtifact = defineOperation({
  id: "readArtifact",
  summary: "Download a file that a run has produced",
  topic: "runs",
  scope: "read",
  effect: "reads",
  input: z.strictObject({ id, path }),
  output: bytesSchema,
  errors: ["RUN_NOT_FOUND", "RUN_AMBIGUOUS", "STORAGE_MISSING", "STORAGE_PATH_INVALID"],
  http: { method: "GET", path: "/runs/{id}/artifacts/{path}", answers: BYTES },
  cli: { no: "`storage get artifacts/RUN/PATH` reads it." },
  mcp: NO_MODEL,
  handle: ({ app }: OperationContext<Stores>, input) => readProduced(app, input.id, input.path),
});
