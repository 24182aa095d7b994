import { useQuery } from "@tanstack/react-query";
import type { ApiError, OutputOf } from "pawl/client";
import { useState } from "react";
import { useServer } from "../../data/server.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Status, StatusSign } from "../../parts/status.tsx";
import { toDuration } from "../../parts/values.tsx";
import type { Span } from "./use-run.ts";

const SHOWN = 200;

interface FanOutItemsProps {
  readonly runId: string;
  readonly path: string;
  readonly items: NonNullable<Span["items"]>;
  readonly asOf: number | undefined;
  readonly onSelect: (path: string) => void;
}

/** The items of a fan-out by their status, those that have failed first. The timeline has all of them. */
export function FanOutItems({ runId, path, items, asOf, onSelect }: FanOutItemsProps) {
  const { client } = useServer();
  const [picked, setPicked] = useState<string>();
  const hasFailed = (items.by_status.failed ?? 0) > 0;
  const status = picked ?? (hasFailed ? "failed" : "");
  const { data, error } = useQuery<OutputOf<"GET /runs/{id}/steps">, ApiError>({
    // Below the steps of the run: it is read again with them.
    queryKey: ["GET /runs/{id}/steps", runId, "items", path, status, asOf],
    queryFn: () =>
      client.call("GET /runs/{id}/steps", {
        id: runId,
        under: path,
        limit: SHOWN,
        ...(status === "" ? {} : { status }),
        ...(asOf === undefined ? {} : { as_of: asOf }),
      }),
    placeholderData: (before) => before,
  });
  const own =
    data?.items.filter((span) => span.parallel_index !== null && !span.path.slice(path.length).includes("/")) ?? [];
  return (
    <div className="mt-1">
      <div className="flex flex-wrap gap-1 text-sm">
        {Object.entries(items.by_status).map(([each, count]) => (
          <button
            key={each}
            type="button"
            aria-pressed={each === status}
            className="inline-flex items-center gap-1 rounded border border-line px-1.5 hover:bg-raised aria-pressed:border-accent aria-pressed:bg-accent/12"
            onClick={() => setPicked(each === status ? "" : each)}
          >
            {count.toLocaleString()} <Status status={each} />
          </button>
        ))}
      </div>
      {error !== null && <Problem error={error} />}
      <ul aria-label={`Items of ${path}`} className="mt-1 max-h-56 overflow-auto">
        {own.map((span) => (
          <li key={span.path} className="flex min-w-0 items-center gap-1.5 py-0.5">
            <StatusSign status={span.status} size={12} />
            <button type="button" className="whitespace-nowrap hover:underline" onClick={() => onSelect(span.path)}>
              {span.path.slice(span.path.lastIndexOf("/") + 1)}
            </button>
            <span className="min-w-0 truncate text-soft" title={span.error?.message}>
              {span.error === null ? "" : `${span.error.code}: ${span.error.message}`}
            </span>
            <span className="ml-auto whitespace-nowrap text-xs text-soft">
              {span.duration_seconds === null ? "" : toDuration(span.duration_seconds)}
            </span>
          </li>
        ))}
      </ul>
      {data?.next_cursor != null && (
        <p className="text-xs text-soft">The first {SHOWN}; the timeline has all of them.</p>
      )}
    </div>
  );
}
