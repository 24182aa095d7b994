import type { Amounts } from "./history/events.ts";

/** The amounts that can be limited. Inside, money is in micro-dollars and time in milliseconds. */
export const AMOUNTS = ["cost", "tokens", "tries", "duration"] as const satisfies readonly (keyof Amounts)[];

export function eachAmount(compute: (of: keyof Amounts) => number): Required<Amounts> {
  return { cost: compute("cost"), tokens: compute("tokens"), tries: compute("tries"), duration: compute("duration") };
}

/** The names and units that people use. */
export const SHOWN_AMOUNTS = {
  cost: { of: "cost_usd", unit: 1_000_000 },
  tokens: { of: "tokens", unit: 1 },
  tries: { of: "steps", unit: 1 },
  duration: { of: "seconds", unit: 1_000 },
} as const satisfies Record<keyof Amounts, { readonly of: string; readonly unit: number }>;

export type ShownAmount = (typeof SHOWN_AMOUNTS)[keyof Amounts]["of"];

/** People are warned at this part of a limit. */
const NEAR = 0.8;

/** From 80 % on. What is used up is near as well. */
export function isNear(used: number, limit: number): boolean {
  return used >= NEAR * limit;
}

/** Dollars as they stand in sentences. */
export function writeMicro(micro: number): string {
  return `$${(micro / 1_000_000).toFixed(4)}`;
}

export function howNear(used: number, limit: number): "ok" | "near" | "used_up" {
  if (used >= limit) return "used_up";
  return isNear(used, limit) ? "near" : "ok";
}
