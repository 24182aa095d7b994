import { useState } from "react";
import { useNow } from "../data/use-now.ts";
import { copyText } from "./copy-text.ts";

/** How long ago, with the exact time on hover. */
export function Time({ at, none = "–" }: { readonly at: string | number | null | undefined; readonly none?: string }) {
  const now = useNow();
  if (at === null || at === undefined) return <span className="text-soft">{none}</span>;
  const date = new Date(at);
  return (
    <time
      dateTime={date.toISOString()}
      title={`${date.toLocaleString()} · ${date.toISOString()}`}
      className="whitespace-nowrap"
    >
      {toRelative(date.getTime() - now)}
    </time>
  );
}

const STEPS: readonly (readonly [number, string])[] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
];

function toRelative(ms: number): string {
  const [unit, name] = STEPS.find(([length]) => Math.abs(ms) >= length) ?? [1_000, "s"];
  const count = Math.round(Math.abs(ms) / unit);
  if (count === 0) return "now";
  return ms < 0 ? `${count} ${name} ago` : `in ${count} ${name}`;
}

/** 0.42 s, 12.3 s, 4 min 05 s, 2 h 10 min, 3 d 4 h. */
export function toDuration(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(2)} s`;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, "0")} s`;
  if (whole < 86_400)
    return `${Math.floor(whole / 3_600)} h ${String(Math.floor((whole % 3_600) / 60)).padStart(2, "0")} min`;
  return `${Math.floor(whole / 86_400)} d ${Math.floor((whole % 86_400) / 3_600)} h`;
}

/** From a beginning to an end, counting while there is no end. */
export function Duration({ from, to }: { readonly from: string | null; readonly to: string | null }) {
  const now = useNow(from !== null && to === null);
  if (from === null) return <span className="text-soft">–</span>;
  const end = to === null ? now : Date.parse(to);
  return <span className="whitespace-nowrap">{toDuration(Math.max(0, end - Date.parse(from)) / 1_000)}</span>;
}

export function toUsdText(usd: number): string {
  if (usd === 0) return "$0";
  return `$${usd.toFixed(usd < 0.01 ? 4 : usd < 1 ? 3 : 2)}`;
}

/** What it cost. `atMost`: what is known of calls whose price was not told, so that the truth lies between. */
export function Cost({
  usd,
  atMost = null,
}: {
  readonly usd: number | null;
  readonly atMost?: number | null | undefined;
}) {
  if (usd === null) return <span className="text-soft">unknown</span>;
  const isBetween = atMost !== null && atMost !== undefined && atMost > usd;
  return (
    <span
      className="whitespace-nowrap"
      title={isBetween ? "Some calls did not tell their price: it is between these." : undefined}
    >
      {toUsdText(usd)}
      {isBetween && <span className="text-soft"> to {toUsdText(atMost)}</span>}
    </span>
  );
}

/** Bytes for people: 512 B, 4.2 kB, 1.3 MB. */
export function toBytesText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** An id, shortened where `whole` is not said, that a click copies. */
export function Id({ id, whole = false }: { readonly id: string; readonly whole?: boolean }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(id);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_200);
  };
  return (
    <button
      type="button"
      title={`Copy ${id}`}
      className="max-w-full truncate rounded px-0.5 font-mono text-xs text-soft hover:bg-raised hover:text-ink"
      onClick={(event) => {
        event.stopPropagation();
        void copy();
      }}
    >
      {isCopied ? "copied" : whole || id.length <= 14 ? id : `${id.slice(0, 8)}…${id.slice(-4)}`}
    </button>
  );
}
