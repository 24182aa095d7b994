import { toArtifactFolder } from "../ports/artifact-folder.ts";
import type { Application } from "./application.ts";
import { listStoredFiles, type StoredFile } from "./stored-files.ts";

/** Files that a run has produced, e.g. recordings of its terminals. `pawl storage get PATH` reads one. */
export function listArtifacts(app: Application, runId: string): Promise<readonly StoredFile[]> {
  return listStoredFiles(app, toArtifactFolder(runId));
}
