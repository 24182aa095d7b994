/** The middle one, and what one in a hundred exceeds. */
export function percentiles(valuesMs: readonly number[]): string {
  return `p50 ${percentile(valuesMs, 0.5).toFixed(0)} ms, p99 ${percentile(valuesMs, 0.99).toFixed(0)} ms`;
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
