import { randomInt } from "node:crypto";

/**
 * A mark that a program cannot take off: the hard limit of file locks, which the kernel stopped using long ago, still
 * hands down to every child, and lets no process raise. `/proc/PID/limits` shows it to anyone, also after the program has
 * left its process group, lost its parent and emptied its environment.
 */
export interface Brands {
  /** The beginning of all brands of this process: nine digits. */
  readonly prefix: string;
  next(): string;
}

const COUNTER_DIGITS = 6;

export function createBrands(): Brands {
  const prefix = String(randomInt(100_000_000, 1_000_000_000));
  let used = 0;
  return {
    prefix,
    next() {
      used = (used + 1) % 10 ** COUNTER_DIGITS;
      return prefix + String(used).padStart(COUNTER_DIGITS, "0");
    },
  };
}

export function toLimitOption(brand: string): string {
  return `--locks=${brand}:${brand}`;
}

/** Whether `/proc/PID/limits` shows the brand. */
export function hasBrand(limits: string, brand: string): boolean {
  const at = limits.indexOf("\nMax file locks ");
  return at !== -1 && limits.slice(at, limits.indexOf("\n", at + 1)).includes(` ${brand} `);
}

/** For `grep -E` over `/proc/PID/limits`: a brand of the process with this prefix. */
export function toBrandPattern(prefix: string): string {
  return `^Max file locks .* ${prefix}[0-9]{${COUNTER_DIGITS}} `;
}
