import { EVERYTHING, type Grant, SENT } from "../../core/trust/grant.ts";

/**
 * The grant of whoever saved a definition or made a schedule. Before grants were kept, a tenant's counts as a text that is sent, and
 * the application's own as the operator's.
 */
export function grantOfSaved({
  grant,
  tenantId,
}: {
  readonly grant?: Grant | undefined;
  readonly tenantId?: string | undefined;
}): Grant {
  return grant ?? (tenantId === undefined ? EVERYTHING : SENT);
}
