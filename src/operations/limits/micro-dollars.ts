/** Money is in micro-dollars inside and in US dollars outside. */
export function toUsd(micro: number): number {
  return micro / 1_000_000;
}

/** The most that something can have cost. Null: nobody knows. */
export function toUsdAtMost(costMicro: number, uncertainMicro: number | null): number | null {
  return uncertainMicro === null ? null : toUsd(costMicro + uncertainMicro);
}

/** The same where calls without a bound are counted. */
export function boundedUsd(sum: {
  readonly costMicro: number;
  readonly uncertainMicro: number;
  readonly unbounded: number;
}): number | null {
  return toUsdAtMost(sum.costMicro, sum.unbounded > 0 ? null : sum.uncertainMicro);
}

export function toMicro(usd: number | undefined): number | undefined {
  return usd === undefined ? undefined : Math.round(usd * 1_000_000);
}
