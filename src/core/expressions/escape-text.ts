/** For RE2: every ASCII character that may mean something there may stand behind a backslash. */
export function escapeRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

/** For texts in which a backslash begins an escape sequence. */
export function escapeBackslashes(text: string): string {
  return text.replaceAll("\\", "\\\\");
}
