import { type InfiniteData, keepPreviousData, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import type { ApiError, FeedEvent, InputOf, OutputOf, Route } from "pawl/client";
import { useCallback, useEffect, useMemo, useRef } from "react";
import { useFeed, useServer } from "./server.tsx";

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
  /** It has no cursors: what follows is asked for by number. */
  readonly isNumbered?: boolean;
  readonly enabled?: boolean;
}

type From = { readonly cursor?: string; readonly offset?: number };

const PAGE = 100;

/** A list of the server, as many pages as were scrolled to. `more` reads the next one, if there is one. */
export function useList<At extends ListRoute>(
  at: At,
  filter: Omit<NonNullable<InputOf<At>[0]>, "limit" | "cursor" | "offset">,
  { when, isNumbered = false, enabled = true }: ListOptions = {},
) {
  const { client } = useServer();
  const queries = useQueryClient();
  const queryKey = [at, "pages", filter];
  const query = useInfiniteQuery<OutputOf<At>, ApiError, InfiniteData<OutputOf<At>>, readonly unknown[], From>({
    queryKey,
    enabled,
    queryFn: ({ pageParam }) =>
      client.call(at, ...([{ ...filter, ...pageParam, limit: PAGE }] as unknown as InputOf<At>)),
    initialPageParam: {},
    getNextPageParam: ({ items, next_cursor: cursor }, pages) => {
      if (cursor !== null) return { cursor };
      return isNumbered && items.length === PAGE ? { offset: pages.length * PAGE } : undefined;
    },
    placeholderData: keepPreviousData,
  });
  const { isFetching, hasNextPage, fetchNextPage } = query;
  // Something has happened while it was being read: what has come may be older.
  const isLate = useRef(false);
  const readAgain = () => void queries.invalidateQueries({ queryKey, exact: true });
  useFeed((events) => {
    if (when === undefined || (events.length > 0 && !events.some(when))) return;
    if (isFetching) isLate.current = true;
    else readAgain();
  });
  useEffect(() => {
    if (isFetching || !isLate.current) return;
    isLate.current = false;
    readAgain();
  });
  const more = useCallback(() => {
    if (hasNextPage && !isFetching) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage]);
  const items = useMemo(() => query.data?.pages.flatMap((page): ItemOf<At>[] => [...page.items]) ?? [], [query.data]);
  return { ...query, items, more };
}
