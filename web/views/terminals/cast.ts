/** A recording: asciicast, version 2. Times are seconds since its beginning. */
export interface Cast {
  readonly columns: number;
  readonly rows: number;
  readonly title: string;
  /** In milliseconds since 1970. */
  readonly startedAt: number | undefined;
  readonly events: readonly CastEvent[];
  /** A little more than its last event, so that the state that closes its terminal is seen to end. */
  readonly seconds: number;
}

type CastEvent =
  | { readonly is: "output"; readonly at: number; readonly text: string }
  | { readonly is: "size"; readonly at: number; readonly columns: number; readonly rows: number };

const REST_SECONDS = 0.5;

/** Reads one. What is no event is left out, such as the line that a killed process has not ended. Undefined: it is no recording. */
export function readCast(text: string): Cast | undefined {
  const [first = "", ...lines] = text.split("\n");
  const header = toJson(first);
  if (typeof header !== "object" || header === null || !("version" in header) || header.version !== 2) return undefined;
  const { width, height, title, timestamp, started_at: started } = header as Readonly<Record<string, unknown>>;
  const events = lines.flatMap(toEvent);
  return {
    columns: isSize(width) ? width : 80,
    rows: isSize(height) ? height : 24,
    title: typeof title === "string" ? title : "",
    startedAt:
      typeof started === "string" ? Date.parse(started) : typeof timestamp === "number" ? timestamp * 1_000 : undefined,
    events,
    seconds: (events.at(-1)?.at ?? 0) + REST_SECONDS,
  };
}

/** How many events are there by then. */
export function countUntil({ events }: Cast, seconds: number): number {
  let low = 0;
  let high = events.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((events[middle]?.at ?? 0) <= seconds) low = middle + 1;
    else high = middle;
  }
  return low;
}

function toEvent(line: string): readonly CastEvent[] {
  const event = toJson(line);
  if (!Array.isArray(event)) return [];
  const [at, type, text] = event as readonly unknown[];
  if (typeof at !== "number" || typeof text !== "string") return [];
  if (type === "o") return [{ is: "output", at, text }];
  const [, columns, rows] = (type === "r" && /^(\d+)x(\d+)$/.exec(text)) || [];
  if (!isSize(Number(columns)) || !isSize(Number(rows))) return [];
  return [{ is: "size", at, columns: Number(columns), rows: Number(rows) }];
}

/** Larger than any screen: a size that only a broken file has. */
const MOST = 2_000;

function isSize(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) > 0 && Number(value) <= MOST;
}

function toJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
