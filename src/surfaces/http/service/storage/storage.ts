import { z } from "zod";
import { listOf, offsetQuery, pageQuery } from "../../../../operations/schemas.ts";
import {
  listStoredFiles,
  readStoredFile,
  removeStoredFile,
  storedFileSchema,
  writeStoredFile,
} from "../../../../operations/storage/stored-files.ts";
import { readBody } from "../../read-body.ts";
import { defineEndpoint } from "../endpoint.ts";
import { pageFiles } from "../schemas/stored-file.ts";
import { sendFile } from "./send-file.ts";

const pathParams = z.object({ path: z.string().min(1).describe("May have slashes.") });

/** `GET /storage`: files whose paths begin with `prefix`. */
export const listStorageEndpoint = defineEndpoint({
  method: "GET",
  path: "/storage",
  id: "listStoredFiles",
  summary: "List stored files, by path",
  tag: "storage",
  scope: "read",
  query: z.strictObject({ ...pageQuery, ...offsetQuery, prefix: z.string().max(1_000).default("") }),
  answer: listOf(storedFileSchema),
  async handle({ app, query }) {
    return pageFiles(await listStoredFiles(app, query.prefix), query);
  },
});

/** `GET /storage/{path}`: the file as it is. */
export const getStoredFile = defineEndpoint({
  method: "GET",
  path: "/storage/{path}",
  id: "readStoredFile",
  summary: "Download a stored file",
  tag: "storage",
  scope: "read",
  params: pathParams,
  answer: { mediaType: "application/octet-stream" },
  async handle({ app, params }) {
    return sendFile(params.path, await readStoredFile(app, params.path));
  },
});

/** `PUT /storage/{path}`: the body is the file. Readers see the old one or the new one. */
export const putStoredFile = defineEndpoint({
  method: "PUT",
  path: "/storage/{path}",
  id: "writeStoredFile",
  summary: "Store a file; the body is its content, whatever its media type",
  tag: "storage",
  scope: "write",
  params: pathParams,
  content: { mediaType: "application/octet-stream" },
  answer: z.object({ path: z.string(), bytes: z.number().int() }),
  async handle({ app, params, c }) {
    const content = await readBody(c.req.raw, app.config.settings.server.max_body_bytes);
    await writeStoredFile(app, params.path, content);
    return { data: { path: params.path, bytes: content.byteLength } };
  },
});

/** `DELETE /storage/{path}`. */
export const removeStoredFileEndpoint = defineEndpoint({
  method: "DELETE",
  path: "/storage/{path}",
  id: "removeStoredFile",
  summary: "Remove a stored file",
  tag: "storage",
  scope: "write",
  params: pathParams,
  answer: z.object({ path: z.string() }),
  async handle({ app, params }) {
    await removeStoredFile(app, params.path);
    return { data: params };
  },
});
