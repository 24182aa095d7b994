/** The folder of a run's artifacts in the storage, with a slash at its end. */
export function toArtifactFolder(runId: string): string {
  return `artifacts/${runId}/`;
}
