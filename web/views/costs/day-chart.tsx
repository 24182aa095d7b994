import type { OutputOf } from "pawl/client";
import { toUsdText } from "../../parts/values.tsx";

type Costs = OutputOf<"GET /costs">;
type Day = Costs["items"][number];

const DAY_MS = 86_400_000;
const MOST_DAYS = 366;
const HEIGHT = 120;

/** A bar for each day of the time, with what it may have cost at most above it. Days are those of UTC. */
export function DayChart({ costs }: { readonly costs: Costs }) {
  const days = daysOf(costs);
  const most = Math.max(...days.map(({ sum }) => Math.max(sum?.cost_usd ?? 0, sum?.cost_usd_at_most ?? 0)));
  const [first, last] = [days[0]?.day ?? "", days.at(-1)?.day ?? ""];
  const width = 100 / days.length;
  const toHeight = (usd: number) => (most === 0 ? 0 : (usd / most) * (HEIGHT - 4));
  return (
    <figure className="m-0 min-w-0 rounded border border-line bg-surface p-2.5">
      <figcaption className="mb-1 flex justify-between text-xs text-soft">
        <span>Cost per day, in UTC</span>
        <span>highest day {toUsdText(most)}</span>
      </figcaption>
      <svg
        role="img"
        aria-label={`Cost per day from ${first} to ${last}; highest day ${toUsdText(most)}. The table by day has each.`}
        width="100%"
        height={HEIGHT}
        className="block border-b border-line"
      >
        {days.map(({ day, sum }, index) => {
          const [usd, atMost] = [sum?.cost_usd ?? 0, sum?.cost_usd_at_most ?? 0];
          const [solid, upper] = [toHeight(usd), toHeight(Math.max(usd, atMost))];
          const x = `${index * width + width * 0.1}%`;
          const bar = `${width * 0.8}%`;
          return (
            <g key={day}>
              <title>{toWords(day, sum)}</title>
              <rect x={`${index * width}%`} y={0} width={`${width}%`} height={HEIGHT} fill="transparent" />
              {upper > solid && (
                <rect x={x} y={HEIGHT - upper} width={bar} height={upper - solid} className="fill-accent/25" />
              )}
              {solid > 0 && (
                <rect
                  x={x}
                  y={HEIGHT - Math.max(1, solid)}
                  width={bar}
                  height={Math.max(1, solid)}
                  className="fill-accent"
                />
              )}
              {sum?.cost_usd === null && <rect x={x} y={HEIGHT - 3} width={bar} height={3} className="fill-warn" />}
            </g>
          );
        })}
      </svg>
      <div aria-hidden="true" className="flex justify-between text-xs text-soft">
        <span>{first}</span>
        <span>{last}</span>
      </div>
    </figure>
  );
}

/** Each day of the time, those without a run too. Of a very long time the last year. */
function daysOf({ since, until, items }: Costs): readonly { readonly day: string; readonly sum: Day | undefined }[] {
  const sums = new Map(items.map((each) => [each.key, each]));
  const end = until === null ? Date.now() : Date.parse(until) - 1;
  const from = Math.max(Math.floor(Date.parse(since) / DAY_MS), Math.floor(end / DAY_MS) - MOST_DAYS + 1);
  const count = Math.max(1, Math.floor(end / DAY_MS) - from + 1);
  return Array.from({ length: count }, (_, index) => {
    const day = new Date((from + index) * DAY_MS).toISOString().slice(0, 10);
    return { day, sum: sums.get(day) };
  });
}

function toWords(day: string, sum: Day | undefined): string {
  if (sum === undefined) return `${day}: no run`;
  const { cost_usd: usd, cost_usd_at_most: atMost, runs } = sum;
  const cost = usd === null ? "cost unknown" : toUsdText(usd);
  const more = atMost !== null && usd !== null && atMost > usd ? `, at most ${toUsdText(atMost)}` : "";
  return `${day}: ${cost}${more}, ${runs} ${runs === 1 ? "run" : "runs"}`;
}
