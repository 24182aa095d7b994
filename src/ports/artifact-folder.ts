/** Where files that a run has produced are in the storage, with the slash at its end. */
export function toArtifactFolder(runId: string): string {
  return `artifacts/${runId}/`;
}
