import type { Config } from "../../config/load-config.ts";
import type { JsonObject } from "../../core/json.ts";
import { fromStored, type Grant, grantOf, isEverything, toStored } from "../../core/trust/grant.ts";
import { grantOfText } from "../../core/trust/parse-grant.ts";

/**
 * Options of a run that keep two grants: `grant`, that of its definition, so that another process compiles it to the same, and
 * `caller_grant`, that of who started it. Absent: everything, as with runs of before.
 */
export function toGrantOptions(definition: { readonly settings: JsonObject }, caller: Grant): JsonObject {
  const grant = grantOf(definition.settings);
  return {
    ...(isEverything(grant) ? {} : { grant: toStored(grant) }),
    ...(isEverything(caller) ? {} : { caller_grant: toStored(caller) }),
  };
}

/** The grant of texts that a run makes: that of who started it, else that of texts which come without a key. */
export function callersGrant(options: JsonObject, { settings }: Pick<Config, "settings">): Grant {
  return fromStored(options["caller_grant"]) ?? grantOfText(settings.server.grant);
}
