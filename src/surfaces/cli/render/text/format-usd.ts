/** `$1.42`; below ten cents with what is needed to see something; `+?` where part of it has no known price. */
export function formatUsd(usd: number, { unpriced = false } = {}): string {
  if (usd === 0 && unpriced) return "$?";
  const digits = usd === 0 || usd >= 0.1 ? 2 : 4;
  return `$${usd.toFixed(digits)}${unpriced ? "+?" : ""}`;
}
