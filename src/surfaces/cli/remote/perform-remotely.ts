import { type CommonOptions, formatOf } from "../cli-context.ts";
import { reportError } from "../report-error.ts";
import { Voice } from "../voice.ts";
import type { ChosenServer } from "./choose-server.ts";
import type { RemoteCommand } from "./remote-parts.ts";

/** Has a server do a command, and returns the exit code. */
export async function performRemotely(
  { url, apiKey }: ChosenServer,
  options: CommonOptions,
  command: RemoteCommand,
): Promise<number> {
  try {
    const { createPawlClient } = await import("../../../client/pawl-client.ts");
    const client = createPawlClient({ url, apiKey });
    return await command({ client, voice: new Voice() });
  } catch (error) {
    const { toPawlError } = await import("./to-pawl-error.ts");
    return reportError(toPawlError(error), formatOf(options));
  }
}
