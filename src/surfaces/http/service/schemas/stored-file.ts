import type { StoredFile } from "../../../../operations/storage/stored-files.ts";

/** A page of files that are sorted by path. The cursor is the path of the last one. */
export function pageFiles(
  files: readonly StoredFile[],
  {
    limit,
    cursor,
    offset = 0,
  }: { readonly limit: number; readonly cursor?: string | undefined; readonly offset?: number | undefined },
) {
  const rest = files.filter(({ path }) => cursor === undefined || path > cursor).slice(offset);
  const items = rest.slice(0, limit);
  const next = rest.length > limit ? (items.at(-1)?.path ?? null) : null;
  const countAll = async () => ({ total: files.length, limit, offset });
  return { data: { items, next_cursor: next }, countAll };
}
