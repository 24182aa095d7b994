import type { Config } from "../config/load-config.ts";
import type { Outbound } from "../ports/outbound.ts";

/** The one way out for requests to addresses that users, models or definitions name. */
export async function openOutbound({ settings }: Pick<Config, "settings">): Promise<Outbound> {
  const { createOutbound } = await import("../executors/outbound/outbound.ts");
  return createOutbound({ allow: settings.outbound.allow, environment: process.env });
}
