/** `850 ms`, `12.3 s`, `3 min 02 s`, `2 h 05 min`, `3 d 04 h`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.floor(ms))} ms`;
  if (ms < 60_000) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 3_600) return pair(seconds, 60, "min", "s");
  if (seconds < 86_400) return pair(Math.floor(seconds / 60), 60, "h", "min");
  return pair(Math.floor(seconds / 3_600), 24, "d", "h");
}

function pair(small: number, size: number, largeUnit: string, smallUnit: string): string {
  return `${Math.floor(small / size)} ${largeUnit} ${String(small % size).padStart(2, "0")} ${smallUnit}`;
}
