import { type Grant, meet } from "../../core/trust/grant.ts";
import { limitCost } from "../limits/lower-limits.ts";
import type { Driving, Principal, Stores } from "./ports.ts";
import { forTenant } from "./tenant-application.ts";
import { withMethods } from "./with-methods.ts";

/** Whose a run is that nobody asks for, and what it may cost. */
export interface Ownership {
  readonly tenantId?: string | undefined;
  readonly maxCostMicro?: number | undefined;
  /** Absent: that of whoever asks. */
  readonly grant?: Grant | undefined;
  /** Of whoever has caused the run. */
  readonly key?: Principal["key"];
}

type OwnerPorts = Principal & Stores & Driving;

/** The ports as the owner of a schedule or a trigger may use them. */
export function forOwner<Own extends OwnerPorts>(
  app: Own,
  { tenantId, maxCostMicro, grant: granted = app.grant, key = app.key }: Ownership,
): Own {
  const own = tenantId === undefined || app.tenantId === tenantId ? app : forTenant(app, tenantId);
  const { maxCostMicro: lowest } = limitCost([own.maxRunCostMicro, maxCostMicro]);
  const grant = granted === app.grant ? granted : meet(app.grant, granted);
  if (lowest === own.maxRunCostMicro && grant === own.grant && key === own.key) return own;
  return withMethods<Own, OwnerPorts>(own, { maxRunCostMicro: lowest, grant, key });
}
