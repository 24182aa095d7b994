import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Principal } from "./ports.ts";

/** For what is about the whole server. `whatIsShown`: the subject of the message. Throws `FORBIDDEN`. */
export function refuseTenant({ tenantId }: Pick<Principal, "tenantId">, whatIsShown: string): void {
  if (tenantId === undefined) return;
  throw new PawlError("FORBIDDEN", {
    message: `${whatIsShown}, and this key belongs to the tenant "${tenantId}".`,
    remedy: "Use a key that belongs to no tenant.",
  });
}
