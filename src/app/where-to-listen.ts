import { PawlError } from "../core/errors/pawl-error.ts";
import type { Application, ListenOptions } from "../operations/application/application.ts";
import { isLoopback, toAddress } from "./addresses.ts";

export interface ListenAddress {
  readonly address: string;
  readonly port: number;
  readonly isLoopback: boolean;
}

/**
 * `--port`, then the setting, then the name that the sandbox protocol gives it. Beyond this machine only with keys: throws
 * `HOST_REFUSED`.
 */
export async function whereToListen(app: Application, options: ListenOptions): Promise<ListenAddress> {
  const { config } = app;
  const { server, uhlp } = config.settings;
  const isSet = config.origins.has("server.port");
  const configured = isSet ? server.port : (uhlp.sandbox_port ?? server.port);
  const written = options.host ?? server.host;
  const address = toAddress(written);
  const isLocal = isLoopback(address);
  const hasKeys = server.api_key !== undefined || (await (await app.service()).keys.areThere());
  if (isLocal || hasKeys) return { address, port: options.port ?? configured, isLoopback: isLocal };
  throw new PawlError("HOST_REFUSED", {
    message: `"${written}" can be reached from other machines, and there is no key.`,
  });
}
