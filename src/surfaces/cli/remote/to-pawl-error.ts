import { ApiError } from "../../../client/pawl-client.ts";
import { isErrorCode } from "../../../core/errors/error-table.ts";
import { PawlError } from "../../../core/errors/pawl-error.ts";

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
