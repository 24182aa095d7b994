import { useQueryClient } from "@tanstack/react-query";
import { createPawlClient, type FeedEvent, type PawlClient } from "pawl/client";
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useSyncExternalStore } from "react";
import { isKeyError, type KeyStore } from "./key-store.ts";
import type { FeedState, LiveFeed } from "./live-feed.ts";

interface Server {
  readonly client: PawlClient;
  readonly keys: KeyStore;
  readonly feed: LiveFeed;
}

const ServerContext = createContext<Server | undefined>(undefined);

interface ServerProviderProps {
  readonly keys: KeyStore;
  readonly feed: LiveFeed;
  readonly url: string;
  readonly children: ReactNode;
}

/** The server that the page came from, with the key of this tab. Another key reads everything again. */
export function ServerProvider({ keys, feed, url, children }: ServerProviderProps) {
  const queries = useQueryClient();
  const key = useSyncExternalStore(keys.subscribe, () => keys.key);
  const client = useMemo(() => createPawlClient({ url, ...(key === undefined ? {} : { apiKey: key }) }), [url, key]);
  useEffect(() => {
    const stop = new AbortController();
    if (!keys.isOnlyForTerminals) void feed.run(client, stop.signal, (error) => isKeyError(error) && keys.ask(error));
    void queries.resetQueries();
    return () => stop.abort();
  }, [client, feed, keys, queries]);
  const server = useMemo(() => ({ client, keys, feed }), [client, keys, feed]);
  return <ServerContext.Provider value={server}>{children}</ServerContext.Provider>;
}

export function useServer(): Server {
  const server = useContext(ServerContext);
  if (server === undefined) throw new Error("A view stands outside of ServerProvider.");
  return server;
}

/** Calls back with each batch of what has happened in runs. An empty batch: something may have been missed. */
export function useFeed(listener: (events: readonly FeedEvent[]) => void): void {
  const { feed } = useServer();
  const current = useRef(listener);
  current.current = listener;
  useEffect(() => feed.listen((events) => current.current(events)), [feed]);
}

export function useFeedState(): { readonly state: FeedState; readonly waiting: number } {
  const { feed } = useServer();
  const state = useSyncExternalStore(feed.watch, () => feed.state);
  const waiting = useSyncExternalStore(feed.watch, () => feed.waiting);
  return { state, waiting };
}
