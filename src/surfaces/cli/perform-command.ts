import { PawlError } from "../../core/errors/pawl-error.ts";
import { type CommonOptions, formatOf, type OpenApp } from "./cli-context.ts";
import { tell } from "./print.ts";
import { io } from "./process-io.ts";
import { type ChosenServer, chooseServer } from "./remote/choose-server.ts";
import type { RemoteCommand } from "./remote/perform-remotely.ts";
import { reportError } from "./report-error.ts";
import type { LocalCommand } from "./verbs/perform.ts";
import { withApp } from "./with-app.ts";

interface Forms {
  readonly local: LocalCommand;
  /** Absent: it works on this machine only. */
  readonly remote: RemoteCommand | undefined;
}

/** Does a command where the command line or the environment says, and returns the exit code. Never rejects. */
export async function performCommand(
  openApp: OpenApp,
  options: CommonOptions,
  { local, remote }: Forms,
): Promise<number> {
  let server: ChosenServer | undefined;
  try {
    server = chooseServer(options, io().env);
    if (server !== undefined && remote === undefined) refuseOrTell(server);
  } catch (error) {
    return reportError(error, formatOf(options));
  }
  if (server === undefined || remote === undefined) return withApp(openApp, options, local);
  const { performRemotely } = await import("./remote/perform-remotely.ts");
  return performRemotely(server, options, remote);
}

/** Who has only set the variable goes on here, and is told so. */
function refuseOrTell({ url, isAsked }: ChosenServer): void {
  if (!isAsked) return tell(`This command works on this machine only: ${url} (PAWL_URL) is not asked.`);
  throw new PawlError("LOCAL_ONLY", { message: `This command works on this machine only, and not through ${url}.` });
}
