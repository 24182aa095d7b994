import { z } from "zod";
import { listOf, offsetQuery, pageQuery } from "../../../../operations/schemas.ts";
import { listArtifacts, readArtifact } from "../../../../operations/storage/list-artifacts.ts";
import { storedFileSchema } from "../../../../operations/storage/stored-files.ts";
import { defineEndpoint } from "../endpoint.ts";
import { pageFiles } from "../schemas/stored-file.ts";
import { sendFile } from "./send-file.ts";

/** `GET /runs/{id}/artifacts`. */
export const listArtifactsEndpoint = defineEndpoint({
  method: "GET",
  path: "/runs/{id}/artifacts",
  id: "listArtifacts",
  summary: "List the files that a run has produced",
  tag: "runs",
  scope: "read",
  params: z.object({ id: z.string().min(1) }),
  query: z.strictObject({ ...pageQuery, ...offsetQuery }),
  answer: listOf(storedFileSchema),
  async handle({ app, params, query }) {
    return pageFiles(await listArtifacts(app, params.id), query);
  },
});

/** `GET /runs/{id}/artifacts/{path}`: the file as it is. */
export const getArtifact = defineEndpoint({
  method: "GET",
  path: "/runs/{id}/artifacts/{path}",
  id: "readArtifact",
  summary: "Download a file that a run has produced",
  tag: "runs",
  scope: "read",
  params: z.object({ id: z.string().min(1), path: z.string().min(1).describe("May have slashes.") }),
  answer: { mediaType: "application/octet-stream" },
  async handle({ app, params }) {
    return sendFile(params.path, await readArtifact(app, params.id, params.path));
  },
});
