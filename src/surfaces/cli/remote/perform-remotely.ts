import { ApiError, createPawlClient, type PawlClient } from "../../../client/pawl-client.ts";
import { isErrorCode } from "../../../core/errors/error-table.ts";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import { type CommonOptions, formatOf } from "../cli-context.ts";
import { reportError } from "../report-error.ts";
import { Voice } from "../voice.ts";
import type { ChosenServer } from "./choose-server.ts";

/** What a command works with that is done by a server. */
export interface RemoteParts {
  readonly client: PawlClient;
  readonly voice: Voice;
}

export type RemoteCommand = (parts: RemoteParts) => Promise<number>;

/** Has a server do a command, and returns the exit code. */
export async function performRemotely(
  { url, apiKey }: ChosenServer,
  options: CommonOptions,
  command: RemoteCommand,
): Promise<number> {
  try {
    return await command({ client: createPawlClient({ url, apiKey }), voice: new Voice() });
  } catch (error) {
    return reportError(toPawlError(error), formatOf(options));
  }
}

/** What a server has refused, as if it had been refused here. A newer server may have codes that are not known here. */
export function toPawlError(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const { code, message, remedy, details } = error;
  const isKnown = isErrorCode(code);
  return new PawlError(isKnown ? code : "SERVER_REFUSED", {
    message: isKnown ? message : `${code}: ${message}`,
    ...(code === "UNAUTHORIZED" || code === "FORBIDDEN" ? { remedy: KEYS } : remedy === "" ? {} : { remedy }),
    details,
    cause: error,
  });
}

const KEYS =
  "Give a key with --api-key KEY or PAWL_API_KEY. Where the server runs, `pawl keys create NAME --scopes read,run,write,admin` makes one.";
