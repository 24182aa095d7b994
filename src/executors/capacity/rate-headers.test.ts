import { expect, test } from "vitest";
import { readRateLimits, readRetryAfter } from "./rate-headers.ts";
import { readRetryAfterMs } from "./throttle.ts";

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);

test.each([
  ["retry-after-ms before retry-after", { "retry-after-ms": "1500", "retry-after": "9" }, 1_500],
  ["seconds", { "retry-after": "2" }, 2_000],
  ["a date", { "retry-after": "Fri, 02 Jan 2026 03:04:12 GMT" }, 7_000],
  [
    "the reset of what is used up",
    {
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-reset-requests": "1m2.5s",
      "x-ratelimit-remaining-tokens": "90",
      "x-ratelimit-reset-tokens": "6h",
    },
    62_500,
  ],
  ["the reset of used up tokens", { "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "20ms" }, 20],
  [
    "a date of Anthropic",
    {
      "anthropic-ratelimit-input-tokens-remaining": "0",
      "anthropic-ratelimit-input-tokens-reset": "2026-01-02T03:04:15Z",
    },
    10_000,
  ],
  ["seconds since the epoch", { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(NOW / 1_000 + 5) }, 5_000],
  ["nothing where all is left", { "x-ratelimit-remaining": "3", "x-ratelimit-reset": "5" }, undefined],
  ["nothing", {}, undefined],
  ["nothing of nonsense", { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "soon" }, undefined],
])("when a refusing server may be asked again is read from %s", (_from, headers, delayMs) => {
  expect(readRetryAfterMs(readRetryAfter(headers, NOW), NOW)).toBe(delayMs);
});

test("what is left of a server's windows is read, the scarcest of each kind", () => {
  const headers = {
    "anthropic-ratelimit-requests-remaining": "7",
    "anthropic-ratelimit-requests-reset": "2026-01-02T03:04:06Z",
    "anthropic-ratelimit-input-tokens-remaining": "9000",
    "anthropic-ratelimit-input-tokens-reset": "2026-01-02T03:04:07Z",
    "anthropic-ratelimit-output-tokens-remaining": "400",
    "anthropic-ratelimit-output-tokens-reset": "2026-01-02T03:04:08Z",
  };
  expect(readRateLimits(headers, NOW)).toEqual({
    calls: { remaining: 7, resetAt: NOW + 1_000 },
    tokens: { remaining: 400, resetAt: NOW + 3_000 },
  });
});
