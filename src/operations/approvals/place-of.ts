import type { OpenApproval } from "./describe-run-approvals.ts";

/** The part behind `RUN:`. A task may ask several questions at one path, so they have their number. */
export function placeOf({ path, key, asked }: Pick<OpenApproval, "path" | "key" | "asked">): string {
  return key === null ? path : `${path}@${asked}`;
}
