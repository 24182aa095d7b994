import { type InfiniteData, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import type { ApiError, FeedEvent, InputOf, OutputOf } from "pawl/client";
import { useMemo } from "react";
import { usePaced } from "../../data/paced.ts";
import { useFeed, useServer } from "../../data/server.tsx";
import { useMore } from "../../data/use-more.ts";

export type RunFilter = Omit<NonNullable<InputOf<"GET /runs">[0]>, "limit" | "cursor" | "offset">;
type Page = OutputOf<"GET /runs">;
export type RunSummary = Page["items"][number];
type Pages = InfiniteData<Page, string | null>;

const PAGE = 200;

/**
 * The runs of a filter, newest first, as many pages as were scrolled to. What happens is put into them: the first page is read again, and
 * runs of the others take the status that an event tells.
 */
export function useRuns(filter: RunFilter) {
  const { client } = useServer();
  const queries = useQueryClient();
  const key = ["GET /runs", "pages", filter] as const;
  const query = useInfiniteQuery<Page, ApiError, Pages, readonly unknown[], string | null>({
    queryKey: key,
    queryFn: ({ pageParam }) =>
      client.call("GET /runs", { ...filter, limit: PAGE, ...(pageParam && { cursor: pageParam }) }),
    initialPageParam: null,
    getNextPageParam: ({ next_cursor: next }) => next,
  });
  const again = usePaced(async () => {
    const first = await client.call("GET /runs", { ...filter, limit: PAGE });
    queries.setQueryData<Pages>(key, (pages) => pages && putFirst(pages, first));
  });
  useFeed((events) => {
    const now = statusesOf(events);
    queries.setQueryData<Pages>(key, (pages) => pages && withStatuses(pages, now));
    again.ask();
  });
  const runs = useMemo(() => query.data?.pages.flatMap(({ items }) => items) ?? [], [query.data]);
  return { ...query, runs, more: useMore(query) };
}

/**
 * With more new runs than a page has, the pages behind would begin after a gap: they are read again when they are scrolled to. With fewer,
 * as some were deleted, the first page has runs of those behind it, which are taken out there.
 */
function putFirst({ pages, pageParams }: Pages, first: Page): Pages {
  const [before, ...rest] = pages;
  const known = new Set(before?.items.map(({ run_id }) => run_id));
  const isJoined = first.items.some(({ run_id }) => known.has(run_id));
  if (!isJoined || rest.length === 0) return { pages: [first], pageParams: [null] };
  const inFirst = new Set(first.items.map(({ run_id }) => run_id));
  const left = before?.items.filter(({ run_id }) => !inFirst.has(run_id)) ?? [];
  const [second, ...others] = rest.map((page) => without(page, inFirst));
  const joined = second && { ...second, items: [...left, ...second.items] };
  return { pages: [first, ...(joined ? [joined] : []), ...others], pageParams };
}

function without(page: Page, ids: ReadonlySet<string>): Page {
  if (!page.items.some(({ run_id }) => ids.has(run_id))) return page;
  return { ...page, items: page.items.filter(({ run_id }) => !ids.has(run_id)) };
}

type Now = ReadonlyMap<string, Partial<RunSummary>>;

function withStatuses({ pages, pageParams }: Pages, now: Now): Pages {
  if (now.size === 0) return { pages, pageParams };
  return {
    pageParams,
    pages: pages.map((page, index) => {
      if (index === 0 || !page.items.some(({ run_id }) => now.has(run_id))) return page;
      return { ...page, items: page.items.map((run) => ({ ...run, ...now.get(run.run_id) })) };
    }),
  };
}

function statusesOf(events: readonly FeedEvent[]): Now {
  const now = new Map<string, Partial<RunSummary>>();
  for (const { event, data } of events) {
    if (event === "run.finished" && "status" in data) {
      now.set(data.run_id, { status: data.status as RunSummary["status"], completed_at: data.at });
    }
    if (event === "run.resumed") now.set(data.run_id, { status: "running" });
    if (event === "approval.requested") now.set(data.run_id, { status: "awaiting_approval" });
  }
  return now;
}
