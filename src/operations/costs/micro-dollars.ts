/** Money is in micro-dollars inside and in US dollars outside. */
export function toUsd(micro: number): number {
  return micro / 1_000_000;
}

export function toMicro(usd: number | undefined): number | undefined {
  return usd === undefined ? undefined : Math.round(usd * 1_000_000);
}
