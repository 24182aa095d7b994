import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ApiError, FeedEvent, InputOf, OutputOf, Route } from "pawl/client";
import { isKeyError } from "./key-store.ts";
import { usePaced } from "./paced.ts";
import { readAgain, toHeal } from "./read-again.ts";
import { useFeed, useServer } from "./server.tsx";

type Given<At extends Route> = InputOf<At>[0];

interface CallOptions {
  /** False: not yet asked. */
  readonly enabled?: boolean;
  /** It is read again when one of these happens in a run. */
  readonly when?: (event: FeedEvent) => boolean;
  /** How often it is read while the page is in sight, for what changes without an event of a run. */
  readonly everyMs?: number;
}

/** Reads a route, and keeps what it answered for all views. The answer before is shown while another is asked for. */
export function useCall<At extends Route>(
  at: At,
  input?: Given<At>,
  { enabled = true, when, everyMs }: CallOptions = {},
) {
  const { client } = useServer();
  const query = useQuery<OutputOf<At>, ApiError>({
    queryKey: queryKeyOf(at, input),
    queryFn: () => client.call(at, ...([input] as InputOf<At>)),
    placeholderData: keepPreviousData,
    enabled,
    refetchInterval: (read) => toHeal(read) || (everyMs ?? false),
    retry: (failures, error) => failures < 1 && (error.status === undefined || error.status >= 500),
  });
  const again = usePaced(query.refetch);
  useFeed((events) => {
    if (enabled && when !== undefined && (events.length === 0 || events.some(when))) again.ask();
  });
  return query;
}

/** The place of an answer among those that are kept. */
export function queryKeyOf<At extends Route>(at: At, input?: Given<At>): readonly unknown[] {
  return input === undefined ? [at] : [at, input];
}

/** Does something. Afterwards every answer on the page is read again. */
export function useDo<At extends Route>(at: At) {
  const { client, keys } = useServer();
  const queries = useQueryClient();
  return useMutation<OutputOf<At>, ApiError, Given<At>>({
    mutationFn: (input) => client.call(at, ...([input] as InputOf<At>)),
    onError: (error) => isKeyError(error) && keys.ask(error),
    onSettled: () => readAgain(queries),
  });
}
