import type { RetryPolicy } from "../../graph/graph.ts";

/** How long to wait after the given number of failures. Jitter is drawn from the seed: equal runs wait equally long. */
export function computeRetryDelayMs(policy: RetryPolicy, failures: number, seed: string): number {
  const spread = policy.jitter * (drawFraction(`${seed} ${failures}`) * 2 - 1);
  const delayMs = Math.min(baseDelayMs(policy, failures) * (1 + spread), policy.maxMs);
  return Math.max(0, Math.round(delayMs));
}

function baseDelayMs({ backoff, initialMs, maxMs }: RetryPolicy, failures: number): number {
  switch (backoff) {
    case "fixed":
      return initialMs;
    case "linear":
      return Math.min(initialMs * failures, maxMs);
    case "exponential":
      return Math.min(initialMs * 2 ** Math.min(failures - 1, 52), maxMs);
  }
}

/** FNV-1a with a final mix: a number in [0, 1) that looks drawn and is the same every time. */
function drawFraction(seed: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < seed.length; i += 1) hash = Math.imul(hash ^ seed.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
