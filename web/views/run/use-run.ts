import { type InfiniteData, useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ApiError, OutputOf, RunStreamEvent } from "pawl/client";
import { useEffect, useMemo, useRef, useState } from "react";
import { Paced } from "../../data/paced.ts";
import { countPages } from "../../data/read-again.ts";
import { useServer } from "../../data/server.tsx";
import { useMore } from "../../data/use-more.ts";
import { LiveTexts } from "./live-texts.ts";

export type Run = OutputOf<"GET /runs/{id}">;
type StepsPage = OutputOf<"GET /runs/{id}/steps">;
export type Span = StepsPage["items"][number];
type Pages = InfiniteData<StepsPage, string | null>;

const PAGE = 1_000;
/**
 * While a run is quick a page asks twice a second at most, a tenth of what a server allows one key, and a quarter of the time: each page of
 * steps costs the server all events of the run.
 */
const PAUSE_PER_REQUEST_MS = 500;
const PAUSE_PER_READ = 3;
/** More than a frame can show: what the page lacks is read again instead. */
const MAX_WAITING = 5_000;

const HEAD = "GET /runs/{id}";
const STEPS = "GET /runs/{id}/steps";
const ENDED = new Set<string>(["completed", "partial", "failed", "cancelled", "budget_exceeded"]);

export function hasEnded({ status }: Pick<Run, "status">): boolean {
  return ENDED.has(status);
}

export interface StepsWanted {
  /** The path of a fan-out: its items. */
  readonly under?: string;
  /** As of an event. */
  readonly asOf?: number | undefined;
  readonly enabled?: boolean;
}

/** A run without its steps and values. */
export function useRunHead(id: string) {
  const { client } = useServer();
  return useQuery<Run, ApiError>({
    queryKey: [HEAD, id, "head"],
    queryFn: () => client.call(HEAD, { id, steps: false, outputs: false, prompts: false }),
  });
}

/** Its steps in time, each fan-out as one; page by page. */
export function useSteps(id: string, { under, asOf, enabled = true }: StepsWanted = {}) {
  const { client } = useServer();
  const query = useInfiniteQuery<StepsPage, ApiError, Pages, readonly unknown[], string | null>({
    queryKey: asOf === undefined ? [STEPS, id, "now", under] : [STEPS, id, "as of", asOf, under],
    queryFn: ({ pageParam }) =>
      client.call(STEPS, {
        id,
        limit: PAGE,
        ...(under === undefined ? {} : { under }),
        ...(asOf === undefined ? {} : { as_of: asOf }),
        ...(pageParam === null ? {} : { cursor: pageParam }),
      }),
    initialPageParam: null,
    getNextPageParam: ({ next_cursor: next }) => next,
    enabled,
    // The slider goes from state to state without an empty page between them.
    placeholderData: (before) => before,
  });
  const spans = useMemo(() => query.data?.pages.flatMap(({ items }) => items) ?? [], [query.data]);
  return { ...query, spans, first: query.data?.pages[0], more: useMore(query) };
}

/**
 * Keeps a run on the page as it is: each change of a step is put in with the next frame, and what a change does not tell (attempts, waits) is
 * read again behind it. Tells whether the connection stands, and what agents say.
 */
export function useFollowedRun(id: string, run: Run | undefined, lastSeq: number | undefined) {
  const { client } = useServer();
  const queries = useQueryClient();
  const [texts] = useState(() => new LiveTexts());
  const [isLost, setLost] = useState(false);
  const from = useRef<number>(undefined);
  from.current ??= lastSeq;
  const isFollowed = run !== undefined && lastSeq !== undefined && !hasEnded(run);
  useEffect(() => {
    if (!isFollowed) return;
    const stop = new AbortController();
    const changes = new FrameBatches<RunStreamEvent>((batch, isWhole) => {
      texts.take(batch);
      queries.setQueriesData<Pages>({ queryKey: [STEPS, id, "now"] }, (pages) => pages && withSteps(pages, batch));
      queries.setQueryData<Run>([HEAD, id, "head"], (head) => head && withStatus(head, batch));
      // The step that is looked at does not wait.
      const paths = pathsOf(batch);
      void queries.invalidateQueries({
        queryKey: [STEPS, id, "one"],
        predicate: ({ queryKey }) => paths.has(queryKey[3]),
      });
      if (!isWhole || batch.some(({ event }) => event !== "live" && event !== "progress")) again.ask();
    });
    const again = new Paced(async () => {
      const began = performance.now();
      const active = queries.getQueryCache().findAll({ queryKey: [STEPS, id], type: "active" });
      await queries.invalidateQueries({ queryKey: [STEPS, id] });
      await queries.invalidateQueries({ queryKey: [HEAD, id] });
      const requests = active.reduce((count, { state }) => count + countPages(state.data), 1);
      return Math.max(requests * PAUSE_PER_REQUEST_MS, (performance.now() - began) * PAUSE_PER_READ);
    });
    const follow = async () => {
      const options = {
        after: String(from.current),
        progress: true,
        signal: stop.signal,
        lost: () => setLost(true),
        connected: () => setLost(false),
      };
      for await (const change of client.followRun(id, options)) changes.put(change);
      again.ask();
    };
    follow().catch(() => stop.signal.aborted || setLost(true));
    return () => {
      stop.abort();
      changes.stop();
    };
  }, [client, id, isFollowed, queries, texts]);
  return { texts, isLost: isLost && isFollowed };
}

/** Hands over what has come, once for each frame. `isWhole` is false where more came than was kept. */
class FrameBatches<Item> {
  readonly #take: (batch: readonly Item[], isWhole: boolean) => void;
  #batch: Item[] = [];
  #isWhole = true;
  #frame: number | undefined;

  constructor(take: (batch: readonly Item[], isWhole: boolean) => void) {
    this.#take = take;
  }

  put(item: Item): void {
    if (this.#batch.length < MAX_WAITING) this.#batch.push(item);
    else this.#isWhole = false;
    this.#frame ??= requestAnimationFrame(() => {
      const [batch, isWhole] = [this.#batch, this.#isWhole];
      this.#batch = [];
      this.#isWhole = true;
      this.#frame = undefined;
      this.#take(batch, isWhole);
    });
  }

  stop(): void {
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
  }
}

function pathsOf(batch: readonly RunStreamEvent[]): ReadonlySet<unknown> {
  return new Set(batch.flatMap((change) => (change.event === "step" ? [change.data.path] : [])));
}

function withSteps({ pages, pageParams }: Pages, batch: readonly RunStreamEvent[]): Pages {
  const now = new Map<string, Partial<Span>>();
  for (const change of batch) {
    if (change.event !== "step") continue;
    const { path, status, attempt, cost_usd, cost_usd_at_most, duration_seconds } = change.data;
    now.set(path, { status, attempt, cost_usd, cost_usd_at_most, duration_seconds });
  }
  if (now.size === 0) return { pages, pageParams };
  return {
    pageParams,
    pages: pages.map((page) =>
      page.items.some(({ path, items }) => items === null && now.has(path))
        ? {
            ...page,
            items: page.items.map((span) => (span.items === null ? { ...span, ...now.get(span.path) } : span)),
          }
        : page,
    ),
  };
}

function withStatus(head: Run, batch: readonly RunStreamEvent[]): Run {
  const last = batch.findLast(({ event }) => event === "status");
  if (last?.event !== "status") return head;
  const { status, total_cost_usd, cost_usd_at_most } = last.data;
  return { ...head, status, total_cost_usd, cost_usd_at_most };
}
