/** Headers of an answer, their names in small letters. */
export type AnswerHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** What is left of a window of a server's limits. */
export interface RateWindow {
  readonly remaining: number;
  /** When all is there again, in milliseconds since the epoch. */
  readonly resetAt: number;
}

/** What a server says that it will still take. */
export interface RateLimits {
  readonly calls: RateWindow | undefined;
  readonly tokens: RateWindow | undefined;
}

// OpenAI and those who speak like it, Anthropic, and everybody else.
const CALLS = [
  ["x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"],
  ["anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"],
  ["x-ratelimit-remaining", "x-ratelimit-reset"],
  ["ratelimit-remaining", "ratelimit-reset"],
] as const;
const TOKENS = [
  ["x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"],
  ["anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"],
  ["anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"],
  ["anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"],
] as const;

export function readRateLimits(headers: AnswerHeaders, now: number): RateLimits {
  return { calls: readScarcest(CALLS, headers, now), tokens: readScarcest(TOKENS, headers, now) };
}

/** The `Retry-After` of a refusal, in seconds or as a date: also where a server says it in words of its own. */
export function readRetryAfter(headers: AnswerHeaders, now: number): string | undefined {
  const ms = textOf(headers["retry-after-ms"]);
  if (ms !== undefined && ms !== "" && Number.isFinite(Number(ms))) return String(Number(ms) / 1_000);
  const after = textOf(headers["retry-after"]);
  if (after !== undefined) return after;
  const { calls, tokens } = readRateLimits(headers, now);
  const resets = [calls, tokens].flatMap((window) => (window?.remaining === 0 ? [window.resetAt - now] : []));
  return resets.length === 0 ? undefined : String(Math.max(0, ...resets) / 1_000);
}

type Names = readonly (readonly [remaining: string, reset: string])[];

function readScarcest(names: Names, headers: AnswerHeaders, now: number): RateWindow | undefined {
  const windows = names.flatMap(([remaining, reset]) => {
    const left = textOf(headers[remaining]);
    const resetAt = readReset(textOf(headers[reset]), now);
    const count = Number(left);
    return left === undefined || left === "" || !Number.isFinite(count) || resetAt === undefined
      ? []
      : [{ remaining: Math.max(0, count), resetAt }];
  });
  return windows.reduce<RateWindow | undefined>(
    (least, window) => (least === undefined || window.remaining < least.remaining ? window : least),
    undefined,
  );
}

/** Numbers beyond are seconds since the epoch. */
const LONGEST_SECONDS = 100_000_000;
const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `6m0s`, `20ms`, seconds, seconds since the epoch, or a date. */
function readReset(text: string | undefined, now: number): number | undefined {
  if (text === undefined || text === "") return undefined;
  const seconds = Number(text);
  if (Number.isFinite(seconds)) return (seconds > LONGEST_SECONDS ? 0 : now) + seconds * 1_000;
  if (/^(?:[\d.]+(?:ms|s|m|h|d))+$/.test(text)) {
    const parts = [...text.matchAll(/([\d.]+)(ms|s|m|h|d)/g)];
    return now + parts.reduce((sum, [, count, unit = "s"]) => sum + Number(count) * (UNITS_MS[unit] ?? 0), 0);
  }
  const at = Date.parse(text);
  return Number.isFinite(at) ? at : undefined;
}

function textOf(header: string | readonly string[] | undefined): string | undefined {
  return (typeof header === "string" ? header : header?.[0])?.trim();
}
