/** Absolute, or with `..` in it. The storage refuses such a path; here it can be said before the run. */
export function leavesStorage(path: string): boolean {
  return /^[/\\]|(^|[/\\])\.\.([/\\]|$)/.test(path);
}
