import { isJsonObject, type Json } from "../core/json.ts";
import { ApiError } from "./api-error.ts";

/** Certificates that Node does not trust: their codes, and how `fetch` names what it gave up on. */
const TLS = /CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS/;

/** What a failed `fetch` means for who asked. */
export function explainFailure(url: string, error: unknown): ApiError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const reason = cause instanceof Error ? cause.message || code : String(cause);
  // OpenSSL says where in its source it has noticed.
  const said = reason.replace(/^[0-9A-F]+:error:\w*:([^:]*):[^:]*:([^:]*):.*$/s, "$1: $2");
  const isTls = TLS.test(code) || TLS.test(reason);
  return new ApiError("SERVER_UNREACHABLE", {
    message: `${url} cannot be reached: ${said || code || "no reason was given"}.`,
    remedy: isTls
      ? "Write http:// if it speaks no TLS; else trust its certificate with NODE_EXTRA_CA_CERTS=FILE."
      : "Look whether the address is right and `pawl serve` runs there.",
    cause: error,
  });
}

/** What an answer says that is no success. Whoever does not answer in the envelope is no Pawl server. */
export function explainRefusal(url: string, status: number, body: Json | undefined): ApiError {
  const error = isJsonObject(body) ? body["error"] : undefined;
  if (!isJsonObject(error) || typeof error["code"] !== "string") return notPawl(url, status);
  const { code, message, remedy, details = null } = error;
  return new ApiError(code, { message: String(message), remedy: String(remedy ?? ""), details, status });
}

export function notPawl(url: string, status: number): ApiError {
  return new ApiError("NOT_A_PAWL_SERVER", {
    message: `${url} answered (${status}), and not as a Pawl server does.`,
    remedy: "Look whether the address is right: `pawl serve` prints its own.",
    status,
  });
}
