import { hostname, networkInterfaces } from "node:os";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { ListenOptions, Place, Stores } from "../../operations/application/ports.ts";

export interface ListenAddress {
  readonly address: string;
  readonly port: number;
  readonly isLoopback: boolean;
}

/**
 * `--port`, then the setting, then the name that the sandbox protocol gives it. Beyond this machine only with keys: throws
 * `HOST_REFUSED`, and `CONFIG_INVALID` where the settings leave work to processes that cannot exist.
 */
export async function whereToListen(app: Place & Stores, options: ListenOptions): Promise<ListenAddress> {
  const { config } = app;
  const { server, uhlp, database, restate } = config.settings;
  if (server.role !== "all" && database.url === undefined)
    throw new PawlError("CONFIG_INVALID", {
      message: `The role \`${server.role}\` leaves work to other processes, and there are none without a database.`,
      remedy: "Set `database.url` (DATABASE_URL), or leave the role out: then this process does everything.",
    });
  if (restate.url !== undefined && restate.endpoint_port === undefined && database.url === undefined)
    throw new PawlError("CONFIG_INVALID", {
      message: "RESTATE_URL is set, and Restate can call no process: other processes cannot reach a data directory.",
      remedy:
        "Set DATABASE_URL and start `pawl worker --restate`, or have this process called too: RESTATE_ENDPOINT_PORT=9080.",
    });
  const isSet = config.origins.has("server.port");
  const configured = isSet ? server.port : (uhlp.sandbox_port ?? server.port);
  const written = options.host ?? server.host;
  const address = toAddress(written);
  const isLocal = isLoopback(address);
  if (isLocal || (await hasKeys(app))) return { address, port: options.port ?? configured, isLoopback: isLocal };
  throw new PawlError("HOST_REFUSED", {
    message: `"${written}" can be reached from other machines, and there is no key.`,
  });
}

export async function hasKeys(app: Place & Stores): Promise<boolean> {
  return app.config.settings.server.api_key !== undefined || (await (await app.service()).keys.areThere());
}

/** The address to listen on for a host that a person has written. */
export function toAddress(host: string): string {
  return host === "localhost" ? "127.0.0.1" : host.replace(/^\[(.*)\]$/, "$1");
}

export function isLoopback(address: string): boolean {
  return /^127(\.\d{1,3}){3}$/.test(address) || address === "::1";
}

export function isEveryAddress(address: string): boolean {
  return address === "0.0.0.0" || address === "::";
}

/** By which other machines may call this one, as it stands in URLs. */
export function namesOf(address: string): readonly string[] {
  if (isLoopback(address)) return [];
  const own = Object.values(networkInterfaces()).flatMap((interfaces) => interfaces ?? []);
  const addresses = isEveryAddress(address) ? own.map((each) => each.address) : [address];
  return [hostname(), ...addresses.map((each) => (each.includes(":") ? `[${each}]` : each))];
}
