import { type Grant, meet } from "../../core/trust/grant.ts";
import { limitCost } from "../costs/lower-limits.ts";
import type { Application } from "./application.ts";
import { forTenant } from "./tenant-application.ts";
import { withMethods } from "./with-methods.ts";

/** Whose a run is that nobody asks for, and what it may cost. */
export interface Ownership {
  readonly tenantId?: string | undefined;
  readonly maxCostMicro?: number | undefined;
  /** Absent: that of whoever asks. */
  readonly grant?: Grant | undefined;
}

/** The application as the owner of something may use it that starts runs by itself. */
export function forOwner(
  app: Application,
  { tenantId, maxCostMicro, grant: granted = app.grant }: Ownership,
): Application {
  const own = tenantId === undefined || app.tenantId === tenantId ? app : forTenant(app, tenantId);
  const { maxCostMicro: lowest } = limitCost([own.maxRunCostMicro, maxCostMicro]);
  const grant = granted === app.grant ? granted : meet(app.grant, granted);
  if (lowest === own.maxRunCostMicro && grant === own.grant) return own;
  return withMethods(own, { maxRunCostMicro: lowest, grant });
}
