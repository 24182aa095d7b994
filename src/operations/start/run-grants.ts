import type { Config } from "../../config/load-config.ts";
import type { JsonObject } from "../../core/json.ts";
import { fromStored, type Grant, grantOf, toStored } from "../../core/trust/grant.ts";
import { grantOfText } from "../../core/trust/parse-grant.ts";
import type { Ports } from "../application/ports.ts";

/**
 * Options of a run that keep two grants: `grant`, that of its definition, so that another process compiles it to the same, and
 * `caller_grant`, that of who started it. Absent: everything, as with runs of before; of a run without a tenant that of keyless texts.
 */
export function toGrantOptions(
  definition: { readonly settings: JsonObject },
  { grant: caller, tenantId, config }: Pick<Ports, "grant" | "tenantId" | "config">,
): JsonObject {
  const grant = toStored(grantOf(definition.settings));
  const kept = toStored(caller);
  const isUsual = kept === "everything" || (tenantId === undefined && kept === toStored(keylessGrant(config)));
  return { ...(grant === "everything" ? {} : { grant }), ...(isUsual ? {} : { caller_grant: kept }) };
}

function keylessGrant({ settings }: Pick<Config, "settings">): Grant {
  return grantOfText(settings.server.grant);
}

/** The grant of texts that a run makes: that of who started it, else that of texts which come without a key. */
export function callersGrant(options: JsonObject, config: Pick<Config, "settings">): Grant {
  return fromStored(options["caller_grant"]) ?? keylessGrant(config);
}
