/** The part behind `RUN:`. A task may ask several questions at one path, so they have their number. */
export function placeOf(approval: { readonly path: string; readonly key: string | null; readonly asked: number }) {
  return approval.key === null ? approval.path : `${approval.path}@${approval.asked}`;
}
