import type { QueryClient } from "@tanstack/react-query";

/** A list that was scrolled further is hundreds of requests: the feed tells it what happens. */
const MOST_PAGES = 10;

/** Reads everything on the page again. */
export function readAgain(queries: QueryClient): Promise<void> {
  return queries.invalidateQueries({ predicate: ({ state }) => countPages(state.data) <= MOST_PAGES });
}

/** How many requests an answer took: a list one for each of its pages. */
export function countPages(data: unknown): number {
  return typeof data === "object" && data !== null && "pages" in data && Array.isArray(data.pages)
    ? data.pages.length
    : 1;
}
