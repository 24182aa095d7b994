import { PawlError } from "../../core/errors/pawl-error.ts";
import { toArtifactFolder } from "../../ports/artifact-folder.ts";
import { findRun } from "../application/find-run.ts";
import type { Stores } from "../application/ports.ts";
import { describeStoredFile, type StoredFile } from "./stored-files.ts";

type ArtifactsApplication = Pick<Stores, "artifacts" | "records">;

/** Files that a run has produced, by their paths in its folder, e.g. recordings of its terminals. Throws `RUN_NOT_FOUND`. */
export async function listArtifacts(app: ArtifactsApplication, runId: string): Promise<readonly StoredFile[]> {
  const folder = toArtifactFolder((await findRun(app, runId)).id);
  const files = await (await app.artifacts()).list(folder);
  return files.map((file) => describeStoredFile({ ...file, path: file.path.slice(folder.length) }));
}

/** Throws `RUN_NOT_FOUND`, `STORAGE_MISSING`, `STORAGE_PATH_INVALID`. */
export async function readArtifact(app: ArtifactsApplication, runId: string, path: string): Promise<Uint8Array> {
  const { id } = await findRun(app, runId);
  const content = await (await app.artifacts()).read(toArtifactFolder(id) + path);
  if (content !== undefined) return content;
  throw new PawlError("STORAGE_MISSING", {
    message: `The run has no artifact "${path}".`,
    remedy: "List those that it has with `pawl runs show ID`.",
  });
}
