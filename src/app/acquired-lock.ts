import type { OwnerLock } from "../storage/sqlite/owner-lock.ts";

/** The right to drive the runs of a data directory, held until it is released. */
export type AcquiredLock = OwnerLock & { readonly acquired: true };
