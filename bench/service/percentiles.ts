/** The middle one, and what one in a hundred exceeds. */
export function percentiles(valuesMs: readonly number[]): string {
  const sorted = [...valuesMs].sort((a, b) => a - b);
  const at = (share: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN).toFixed(0);
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`;
}
