import type { Json } from "./json.ts";

export const NO_STATUS = "`statusCode` must be a number from 200 to 599";

/** The status that a workflow gives to its answer, which may be a text of three digits. Undefined: HTTP has none such. */
export function toHttpStatus(value: Json | undefined): number | undefined {
  const status = typeof value === "string" && /^\d{3}$/.test(value) ? Number(value) : value;
  return typeof status === "number" && Number.isInteger(status) && status >= 200 && status <= 599 ? status : undefined;
}
