import type { QueryClient } from "@tanstack/react-query";
import type { ApiError } from "pawl/client";

/** A list that was scrolled further is hundreds of requests: the feed tells it what happens. */
const MOST_PAGES = 10;

/** Reads everything on the page again. */
export function readAgain(queries: QueryClient): Promise<void> {
  return queries.invalidateQueries({ predicate: ({ state }) => countPages(state.data) <= MOST_PAGES });
}

const HEALING_MS = 2_000;

/** How soon a read that has failed is tried again: what the server could not answer then it can answer later. */
export function toHeal({ state: { status, error } }: { readonly state: { status: string; error: unknown } }) {
  return status === "error" && isPassing(error) ? HEALING_MS : false;
}

/** The server is away, busy or in trouble: it has not refused. */
export function isPassing(error: unknown): boolean {
  const { status } = error as ApiError;
  return status === undefined || status === 429 || status >= 500;
}

/** How many requests an answer took: a list one for each of its pages. */
export function countPages(data: unknown): number {
  return typeof data === "object" && data !== null && "pages" in data && Array.isArray(data.pages)
    ? data.pages.length
    : 1;
}
