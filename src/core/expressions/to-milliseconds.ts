import type { Json } from "../json.ts";

/** A number, or digits, are seconds; a text has units from large to small: `90s`, `500ms`, `5m`, `1h30m`, `2d`. */
export function toMilliseconds(value: Json | undefined): number | undefined {
  if (typeof value === "number") return toWhole(value * SECOND_MS);
  // A bigint is far beyond what milliseconds can be.
  if (typeof value !== "string") return undefined;
  if (/^[0-9]{1,15}$/.test(value)) return toWhole(Number(value) * SECOND_MS);
  const amounts = DURATION.exec(value)?.slice(1);
  if (amounts === undefined || value === "") return undefined;
  return toWhole(UNITS_MS.reduce((sum, unitMs, unit) => sum + Number(amounts[unit] ?? 0) * unitMs, 0));
}

const SECOND_MS = 1_000;
const UNITS_MS = [86_400_000, 3_600_000, 60_000, SECOND_MS, 1];
const DURATION = /^(?:([0-9]{1,15})d)?(?:([0-9]{1,15})h)?(?:([0-9]{1,15})m)?(?:([0-9]{1,15})s)?(?:([0-9]{1,15})ms)?$/;

function toWhole(milliseconds: number): number | undefined {
  // `+ 0`: no negative zero.
  const whole = Math.round(milliseconds) + 0;
  return milliseconds >= 0 && Number.isSafeInteger(whole) ? whole : undefined;
}
