/** Where a workflow is shown. */
export function toAddress(name: string): string {
  return `/workflows/${encodeURIComponent(name)}`;
}
