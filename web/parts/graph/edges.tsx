import { memo } from "react";
import type { DrawnEdge } from "./lay-out.ts";

const TONES = {
  plain: "stroke-soft/70",
  failure: "stroke-bad/70",
  side: "stroke-soft/70 [stroke-dasharray:4_3]",
} as const;

/** All edges in one drawing: ways and labels come from the layout, so that they go around the steps. */
export const Edges = memo(function Edges({ edges }: { readonly edges: readonly DrawnEdge[] }) {
  return (
    <>
      <svg
        aria-hidden="true"
        width="1"
        height="1"
        className="pointer-events-none absolute left-0 top-0 overflow-visible"
      >
        <defs>
          {(["plain", "failure"] as const).map((tone) => (
            <marker
              key={tone}
              id={`graph-${tone}`}
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerWidth="7"
              markerHeight="7"
              orient="auto"
            >
              <path d="M0 0.5 8 4 0 7.5Z" className={tone === "failure" ? "fill-bad" : "fill-soft"} />
            </marker>
          ))}
        </defs>
        {edges.map(({ key, points, tone }) => (
          <path
            key={key}
            d={toPath(points)}
            fill="none"
            strokeWidth="1.25"
            className={TONES[tone]}
            markerEnd={`url(#graph-${tone === "failure" ? "failure" : "plain"})`}
          />
        ))}
      </svg>
      {edges.map(
        ({ key, label, tone }) =>
          label && (
            <span
              key={key}
              title={label.text}
              style={{ transform: `translate(-50%, -50%) translate(${label.x}px, ${label.y}px)` }}
              className={`pointer-events-auto absolute left-0 top-0 max-w-56 truncate rounded bg-ground px-1 text-[11px] leading-4 ${tone === "failure" ? "text-bad" : "text-soft"}`}
            >
              {label.text}
            </span>
          ),
      )}
    </>
  );
});

/** A line through the points with round corners. */
function toPath(points: DrawnEdge["points"]): string {
  const [first, ...rest] = points;
  if (first === undefined) return "";
  let path = `M${first.x} ${first.y}`;
  for (const [index, point] of rest.entries()) {
    const next = rest[index + 1];
    if (next === undefined) path += `L${point.x} ${point.y}`;
    else path += `Q${point.x} ${point.y} ${(point.x + next.x) / 2} ${(point.y + next.y) / 2}`;
  }
  return path;
}
