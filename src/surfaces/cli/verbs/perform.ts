import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { OpenApplication } from "../../../operations/application/ports.ts";
import type { RunCaller } from "../caller.ts";
import type { CommonOptions } from "../cli-context.ts";
import type { RemoteCommand } from "../remote/perform-remotely.ts";
import type { Voice } from "../voice.ts";

/** What a verb does with the application that the options name. */
export type LocalCommand = (app: OpenApplication, voice: Voice) => Promise<number>;

/**
 * Does what a verb does: on this machine with an application that is opened and closed, or by a server. A verb without a
 * second form works on this machine only.
 */
export type Perform = <Options extends CommonOptions>(
  options: Options,
  local: LocalCommand,
  remote?: RemoteCommand,
) => Promise<void>;

interface Asking {
  /** Where runs go on that an operation starts, where nobody owns the data. */
  readonly starts?: "here" | "in the background";
  /** Whose things they are, instead of everybody's. */
  readonly tenant?: string | undefined;
}

/** Both forms of a command that only asks: this process, the owner of the data, or a server. */
export function asking(
  command: (caller: RunCaller, voice: Voice) => Promise<number>,
  { starts = "here", tenant }: Asking = {},
): [local: LocalCommand, remote: RemoteCommand] {
  return [
    async (app, voice) => {
      const { callHere } = await import("../call-here.ts");
      const caller = callHere(app, { starts, tenant });
      const exitCode = await command(caller, voice);
      await caller.abandon();
      return exitCode;
    },
    async ({ client, voice }) => {
      // A server must not do to the application's what was meant for a tenant's.
      if (tenant !== undefined)
        throw new PawlError("USAGE", {
          message: `\`--tenant\` counts on this machine only: ${client.url} acts for the tenant of the key.`,
          remedy: `Leave it out and use a key of the tenant with --api-key: pawl keys create NAME --tenant ${tenant}`,
        });
      const { callServer } = await import("../call-server.ts");
      return command(callServer(client, voice), voice);
    },
  ];
}
