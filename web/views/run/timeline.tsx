import { memo, useCallback, useEffect, useMemo, useState } from "react";
import { useNow } from "../../data/use-now.ts";
import { Rows } from "../../parts/rows.tsx";
import { StatusSign, toneOf } from "../../parts/status.tsx";
import { toDuration } from "../../parts/values.tsx";
import { hasEnded, type Run, type Span, useSteps } from "./use-run.ts";

interface TimelineProps {
  readonly run: Run;
  readonly spans: readonly Span[];
  readonly selected: string;
  readonly onSelect: (path: string) => void;
  readonly asOf: number | undefined;
  /** The end of the axis where the past is looked at. */
  readonly atMs: number | undefined;
  readonly onEnd: () => void;
}

interface Line {
  readonly span: Span;
  readonly depth: number;
}

/** A bar for each step instance: queue, attempts and waits apart. A fan-out is one, which opens to its items. */
export function Timeline({ run, spans, selected, onSelect, asOf, atMs, onEnd }: TimelineProps) {
  const [opened, setOpened] = useState<ReadonlySet<string>>(() => new Set(fanOutsOf(selected)));
  const [shown, setShown] = useState(selected);
  // What is selected elsewhere is to be seen here.
  if (shown !== selected) {
    setShown(selected);
    setOpened(new Set([...opened, ...fanOutsOf(selected)]));
  }
  const [items, setItems] = useState<ReadonlyMap<string, readonly Span[]>>(new Map());
  const now = useNow(!hasEnded(run) && asOf === undefined);
  const fromMs = Date.parse(run.started_at ?? run.created_at);
  const toMs = atMs ?? (run.completed_at === null ? now : Date.parse(run.completed_at));
  const axis = { fromMs, toMs: Math.max(toMs, fromMs + 1) };
  const lines = useMemo(() => toLines(spans, opened, items), [spans, opened, items]);
  const toggle = (path: string) =>
    setOpened((before) =>
      before.has(path) ? new Set([...before].filter((each) => each !== path)) : new Set([...before, path]),
    );
  const keep = useCallback(
    (path: string, read: readonly Span[]) =>
      setItems((before) => (before.get(path) === read ? before : new Map(before).set(path, read))),
    [],
  );
  return (
    <>
      {[...opened].map((path) => (
        <Items key={path} runId={run.run_id} path={path} asOf={asOf} onRead={keep} />
      ))}
      <Hatches />
      <Axis seconds={(axis.toMs - axis.fromMs) / 1_000} />
      <Rows
        label="Timeline"
        items={lines}
        keyOf={({ span }) => keyOf(span)}
        height={26}
        at={lines.findIndex(({ span }) => span.path === selected)}
        onEnd={onEnd}
        row={({ span, depth }) => (
          <div className="grid h-[26px] grid-cols-[minmax(0,2fr)_minmax(0,3fr)] items-center">
            <StepName span={span} depth={depth} isOpen={opened.has(span.path)} onToggle={toggle} onSelect={onSelect} />
            <Bar span={span} fromMs={axis.fromMs} toMs={axis.toMs} />
          </div>
        )}
      />
    </>
  );
}

/** The fan-outs that an item stands in: `batch` and `batch[2]/fetch` for `batch[2]/fetch[7]`. */
function fanOutsOf(path: string): readonly string[] {
  return [...path.matchAll(/\[\d+\]/g)].map(({ index }) => path.slice(0, index));
}

/** A fan-out and its first instance can have one path: that of a step that has not begun. */
function keyOf({ path, items }: Span): string {
  return items === null ? path : `${path} *`;
}

function toLines(
  spans: readonly Span[],
  opened: ReadonlySet<string>,
  items: ReadonlyMap<string, readonly Span[]>,
  depth = 0,
  parents: ReadonlyMap<string, number> = new Map(),
): readonly Line[] {
  const depths = new Map(parents);
  return spans.flatMap((span): readonly Line[] => {
    const own = span.parent === null ? depth : Math.max(depth, (depths.get(span.parent) ?? depth - 1) + 1);
    depths.set(span.path, own);
    const line = { span, depth: own };
    const inside = span.items === null || !opened.has(span.path) ? undefined : items.get(span.path);
    return inside === undefined ? [line] : [line, ...toLines(inside, opened, items, own + 1, depths)];
  });
}

/** More items of one fan-out are found by filters, not by scrolling. */
const MAX_ITEMS = 20_000;

interface ItemsProps {
  readonly runId: string;
  readonly path: string;
  readonly asOf: number | undefined;
  readonly onRead: (path: string, spans: readonly Span[]) => void;
}

/** Reads the items of a fan-out that is open. It draws nothing: the lines are one list, of which only what is in sight is drawn. */
function Items({ runId, path, asOf, onRead }: ItemsProps) {
  const { spans, more } = useSteps(runId, { under: path, asOf });
  useEffect(() => {
    if (spans.length < MAX_ITEMS) more();
  }, [more, spans.length]);
  useEffect(() => onRead(path, spans), [onRead, path, spans]);
  return null;
}

interface StepNameProps {
  readonly span: Span;
  readonly depth: number;
  readonly isOpen: boolean;
  readonly onToggle: (path: string) => void;
  readonly onSelect: (path: string) => void;
}

const StepName = memo(function StepName({ span, depth, isOpen, onToggle, onSelect }: StepNameProps) {
  const { path, status, items } = span;
  const name = path.slice(path.lastIndexOf("/") + 1);
  const failed = items?.by_status["failed"] ?? 0;
  const done = (items?.by_status["completed"] ?? 0) + (items?.by_status["skipped"] ?? 0) + failed;
  return (
    <div className="flex min-w-0 items-center gap-1.5 pr-2" style={{ paddingLeft: 8 + depth * 14 }}>
      {items === null ? (
        <span className="w-3.5" />
      ) : (
        <button
          type="button"
          aria-expanded={isOpen}
          aria-label={`Items of ${path}`}
          className="w-3.5 text-xs text-soft"
          onClick={() => onToggle(path)}
        >
          {isOpen ? "▾" : "▸"}
        </button>
      )}
      <StatusSign status={status} size={12} />
      <button
        type="button"
        title={path}
        className="min-w-0 truncate text-left hover:underline"
        onClick={() => onSelect(path)}
      >
        {name}
      </button>
      {items !== null && (
        <span className="whitespace-nowrap text-xs text-soft">
          {done.toLocaleString()}/{items.total?.toLocaleString() ?? "?"}
          {failed > 0 && (
            <span className="ml-1 rounded bg-bad px-1 font-medium text-surface">{failed.toLocaleString()} failed</span>
          )}
        </span>
      )}
      {span.attempt > 1 && <span className="whitespace-nowrap text-xs text-warn">attempt {span.attempt}</span>}
    </div>
  );
});

const FILLS = {
  ok: "fill-ok",
  bad: "fill-bad",
  warn: "fill-warn",
  wait: "fill-wait",
  accent: "fill-accent",
  soft: "fill-soft",
} as const;

const HATCHES: Partial<Record<Piece["kind"], string>> = { wait: "url(#hatch-wait)", capacity: "url(#hatch-capacity)" };

/** Once for all bars. */
function Hatches() {
  return (
    <svg width="0" height="0" className="absolute" aria-hidden="true">
      <defs>
        {(["wait", "capacity"] as const).map((kind) => (
          <pattern
            key={kind}
            id={`hatch-${kind}`}
            width="5"
            height="5"
            patternUnits="userSpaceOnUse"
            patternTransform={`rotate(${kind === "wait" ? 45 : -45})`}
          >
            <rect width="2" height="5" className={kind === "wait" ? "fill-wait" : "fill-warn"} />
          </pattern>
        ))}
      </defs>
    </svg>
  );
}

interface Piece {
  readonly from: number;
  readonly to: number;
  /** `capacity`: of an attempt, the time in which its server had no place for it. */
  readonly kind: "queue" | "capacity" | "attempt" | "wait";
  readonly status: string;
  readonly words: string;
}

/** What is hatched waits (for a server the other way round); what is pale stands in the queue; the rest is work, a piece for each attempt. */
const Bar = memo(function Bar({
  span,
  fromMs,
  toMs,
}: {
  readonly span: Span;
  readonly fromMs: number;
  readonly toMs: number;
}) {
  const length = toMs - fromMs;
  const pieces = piecesOf(span, toMs);
  const x = (at: number) => Math.min(100, Math.max(0, ((at - fromMs) / length) * 100));
  const last = pieces.at(-1);
  const end = last === undefined ? 0 : x(last.to);
  return (
    <div className="relative h-[26px] pr-14">
      <svg className="block h-[26px] w-full" aria-hidden="true">
        {pieces.map(({ from, to, kind, status, words }) => (
          <rect
            key={`${kind} ${from} ${words}`}
            x={`${x(from)}%`}
            y={kind === "attempt" ? 7 : 9}
            width={`${Math.max(0.35, x(to) - x(from))}%`}
            height={kind === "attempt" ? 12 : 8}
            rx={2}
            className={kind in HATCHES ? "" : FILLS[kind === "queue" ? "soft" : toneOf(status)]}
            fill={HATCHES[kind]}
            fillOpacity={kind === "queue" ? 0.3 : 1}
          >
            <title>{words}</title>
          </rect>
        ))}
      </svg>
      <span
        className="absolute top-1 whitespace-nowrap pl-1 text-xs text-soft"
        style={{ left: `calc((100% - 3.5rem) * ${end / 100})` }}
      >
        {span.duration_seconds === null ? "" : toDuration(span.duration_seconds)}
      </span>
    </div>
  );
});

function piecesOf(span: Span, nowMs: number): readonly Piece[] {
  const end = (time: string | null) => (time === null ? nowMs : Date.parse(time));
  const attempts = span.attempts.flatMap((attempt) => piecesOfAttempt(attempt, end));
  const waits = span.waits.map(({ kind, since, until }): Piece => {
    const [from, to] = [Date.parse(since), end(until)];
    return {
      from,
      to,
      kind: "wait",
      status: "waiting",
      words: `waits for ${WAITS[kind]} ${toDuration((to - from) / 1_000)}`,
    };
  });
  if (attempts.length + waits.length > 0) return [...waits, ...attempts].sort((a, b) => a.from - b.from);
  if (span.started_at === null) return [];
  const [from, to] = [Date.parse(span.started_at), end(span.completed_at)];
  return [
    { from, to, kind: "attempt", status: span.status, words: `${span.status}, ${toDuration((to - from) / 1_000)}` },
  ];
}

/** When a call waited is not on record, only how long: most wait before their first answer. */
function piecesOfAttempt(attempt: Span["attempts"][number], end: (time: string | null) => number): readonly Piece[] {
  const { status, queued_at, started_at, ended_at, error_code, waited_seconds: waited } = attempt;
  const queuedMs = Date.parse(queued_at);
  const startedMs = started_at === null ? end(ended_at) : Date.parse(started_at);
  const endedMs = end(ended_at);
  const workedFrom = Math.min(endedMs, startedMs + waited * 1_000);
  const failure = error_code === null ? "" : `, ${error_code}`;
  const piece = (kind: Piece["kind"], from: number, to: number, words: string) => ({ from, to, kind, status, words });
  return [
    ...(startedMs > queuedMs
      ? [piece("queue", queuedMs, startedMs, `in the queue ${toDuration((startedMs - queuedMs) / 1_000)}`)]
      : []),
    ...(waited > 0 ? [piece("capacity", startedMs, workedFrom, `its server had no place ${toDuration(waited)}`)] : []),
    ...(started_at === null
      ? []
      : [
          piece(
            "attempt",
            workedFrom,
            endedMs,
            `attempt ${attempt.attempt}: ${status}${failure}, ${toDuration((endedMs - workedFrom) / 1_000)}`,
          ),
        ]),
  ];
}

const WAITS: Readonly<Record<Span["waits"][number]["kind"], string>> = {
  retry: "its next attempt",
  timer: "its time",
  event: "an event",
  person: "a person",
  held: "somebody who resumes the run",
};

function Axis({ seconds }: { readonly seconds: number }) {
  return (
    <div className="grid grid-cols-[minmax(0,2fr)_minmax(0,3fr)] border-b border-line text-xs text-soft">
      <span className="px-2 py-0.5">step</span>
      <span className="flex justify-between py-0.5 pr-14">
        {[0, 0.25, 0.5, 0.75, 1].map((part) => (
          <span key={part}>{part === 0 ? "0" : toDuration(seconds * part)}</span>
        ))}
      </span>
    </div>
  );
}
