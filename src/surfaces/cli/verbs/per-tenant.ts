import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { CommonOptions } from "../cli-context.ts";
import type { RemoteCommand } from "../remote/remote-parts.ts";
import type { LocalCommand, Perform } from "./perform.ts";

interface TenantOptions extends CommonOptions {
  readonly tenant?: string;
}

export type PerformPerTenant = <Options extends TenantOptions>(
  options: Options,
  local: LocalCommand,
  remote: RemoteCommand,
) => Promise<void>;

/**
 * For verbs that take `--tenant`: a server acts for the tenant of the key, and must not do to the application's what was
 * meant for a tenant's.
 */
export function perTenant(perform: Perform): PerformPerTenant {
  return (options, local, remote) =>
    perform(options, local, async (parts) => {
      if (options.tenant === undefined) return remote(parts);
      throw new PawlError("USAGE", {
        message: `\`--tenant\` counts on this machine only: ${parts.client.url} acts for the tenant of the key.`,
        remedy: `Leave it out and use a key of the tenant with --api-key: pawl keys create NAME --tenant ${options.tenant}`,
      });
    });
}
