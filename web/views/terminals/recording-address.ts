/** The page of a recording, by its path in the storage. */
export function toRecordingAddress(path: string): string {
  return `/terminals/recordings/${path.split("/").map(encodeURIComponent).join("/")}`;
}
