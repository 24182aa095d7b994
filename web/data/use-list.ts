import { type InfiniteData, keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import type { ApiError, FeedEvent, InputOf, OutputOf, Route } from "pawl/client";
import { useMemo } from "react";
import { usePaced } from "./paced.ts";
import { useFeed, useServer } from "./server.tsx";
import { LATER_MS } from "./use-again-at.ts";
import { useMore } from "./use-more.ts";

interface Page {
  readonly items: readonly unknown[];
  readonly next_cursor: string | null;
}

/** The routes that answer with a list. */
type ListRoute = { [At in Route]: OutputOf<At> extends Page ? At : never }[Route];
export type ItemOf<At extends ListRoute> = OutputOf<At>["items"][number];

interface ListOptions {
  /** It is read again when one of these happens in a run. */
  readonly when?: (event: FeedEvent) => boolean;
  /** What these events cause is written after them: the list is read once more a moment later. */
  readonly isLate?: boolean;
  /** It has no cursors: what follows is asked for by number. */
  readonly isNumbered?: boolean;
}

type From = { readonly cursor?: string; readonly offset?: number };

const PAGE = 100;
const A_PAGE_MS = 1_000;

/** A list of the server, as many pages as were scrolled to. `more` reads the next one, if there is one. */
export function useList<At extends ListRoute>(
  at: At,
  filter: Omit<NonNullable<InputOf<At>[0]>, "limit" | "cursor" | "offset">,
  { when, isLate = false, isNumbered = false }: ListOptions = {},
) {
  const { client } = useServer();
  const query = useInfiniteQuery<OutputOf<At>, ApiError, InfiniteData<OutputOf<At>>, readonly unknown[], From>({
    queryKey: [at, "pages", filter],
    queryFn: ({ pageParam }) =>
      client.call(at, ...([{ ...filter, ...pageParam, limit: PAGE }] as unknown as InputOf<At>)),
    initialPageParam: {},
    getNextPageParam: ({ items, next_cursor: cursor }, pages) => {
      if (cursor !== null) return { cursor };
      return isNumbered && items.length === PAGE ? { offset: pages.length * PAGE } : undefined;
    },
    placeholderData: keepPreviousData,
  });
  const { isFetching, hasNextPage, fetchNextPage, refetch, data } = query;
  const pages = data?.pages.length ?? 0;
  const again = usePaced(async () => {
    await refetch();
    // Every page was a request: who has scrolled far sees changes later.
    return Math.max(1, pages) * A_PAGE_MS;
  });
  useFeed((events) => {
    if (when === undefined || (events.length > 0 && !events.some(when))) return;
    again.ask();
    if (isLate) setTimeout(() => again.ask(), LATER_MS);
  });
  // A page that is asked for while the list is read again would break that off.
  const more = useMore({ hasNextPage, isFetchingNextPage: isFetching, fetchNextPage });
  const items = useMemo(() => data?.pages.flatMap((page): ItemOf<At>[] => [...page.items]) ?? [], [data]);
  return { ...query, items, more };
}
