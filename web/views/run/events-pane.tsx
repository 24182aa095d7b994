import { useInfiniteQuery } from "@tanstack/react-query";
import type { ApiError, OutputOf } from "pawl/client";
import { useMemo, useState } from "react";
import { useServer } from "../../data/server.tsx";
import { useMore } from "../../data/use-more.ts";
import { TextField } from "../../parts/fields.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Rows } from "../../parts/rows.tsx";
import { ValueView } from "../../parts/value-view.tsx";

type Page = OutputOf<"GET /runs/{id}/events">;

interface EventsPaneProps {
  readonly runId: string;
  readonly asOf: number | undefined;
  /** More has happened since: the last page is read again. */
  readonly lastSeq: number;
  readonly onSelect: (path: string) => void;
  readonly onTravel: (seq: number) => void;
}

/** The journal of a run by number. A click on a number shows the whole run as of that event. */
export function EventsPane({ runId, asOf, lastSeq, onSelect, onTravel }: EventsPaneProps) {
  const { client } = useServer();
  const [text, setText] = useState("");
  const [opened, setOpened] = useState<number>();
  const query = useInfiniteQuery<Page, ApiError, { pages: Page[] }, readonly unknown[], string>({
    queryKey: ["GET /runs/{id}/events", runId, Math.floor(lastSeq / 1_000)],
    queryFn: ({ pageParam }) => client.call("GET /runs/{id}/events", { id: runId, limit: 1_000, cursor: pageParam }),
    initialPageParam: "0",
    getNextPageParam: ({ next_cursor: next }) => next,
  });
  const { data, error, isPending } = query;
  const events = useMemo(() => {
    const all = data?.pages.flatMap(({ items }) => items) ?? [];
    return all.filter(
      ({ seq, event }) =>
        seq <= (asOf ?? Number.POSITIVE_INFINITY) && (text === "" || `${event.type} ${pathOf(event)}`.includes(text)),
    );
  }, [data, asOf, text]);
  const more = useMore(query);
  if (error !== null) return <Problem error={error} />;
  if (isPending) return <Loading what="the journal" />;
  return (
    <>
      <div className="border-b border-line p-1.5">
        <TextField
          label="Search events"
          hidesLabel
          type="search"
          placeholder="type or step"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      </div>
      <Rows
        label="Events"
        items={events}
        keyOf={({ seq }) => String(seq)}
        height={28}
        onEnd={more}
        row={({ seq, event }) => (
          <div className="px-2 py-1">
            <div className="flex items-center gap-2">
              <button
                type="button"
                title="The run as of this event"
                className="w-12 text-right font-mono text-xs text-accent underline"
                onClick={() => onTravel(seq)}
              >
                {seq}
              </button>
              <span className="whitespace-nowrap font-mono text-xs text-soft" title={new Date(event.at).toISOString()}>
                {new Date(event.at).toISOString().slice(11, 23)}
              </span>
              <button
                type="button"
                aria-expanded={opened === seq}
                className="whitespace-nowrap font-medium hover:underline"
                onClick={() => setOpened(opened === seq ? undefined : seq)}
              >
                {event.type}
              </button>
              {pathOf(event) !== "" && (
                <button
                  type="button"
                  className="min-w-0 truncate text-soft hover:underline"
                  title={pathOf(event)}
                  onClick={() => onSelect(pathOf(event))}
                >
                  {pathOf(event)}
                </button>
              )}
            </div>
            {opened === seq && (
              <div className="py-1 pl-14">
                <ValueView value={event} label={`event ${seq}`} />
              </div>
            )}
          </div>
        )}
      />
    </>
  );
}

function pathOf(event: Page["items"][number]["event"]): string {
  return "path" in event && typeof event.path === "string" ? event.path : "";
}
