import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
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

/** What an answer says that is no success. An answer without the envelope is not from a Pawl server. */
export function explainRefusal(url: string, status: number, body: Json | undefined): ApiError {
  const error = isJsonObject(body) ? body["error"] : undefined;
  if (typeof error === "string" && isJsonObject(body)) return explainExecution(url, status, { ...body, error });
  if (!isJsonObject(error) || typeof error["code"] !== "string") return notPawl(url, status);
  const { code, message, remedy, details = null } = error;
  return new ApiError(code, { message: String(message), remedy: String(remedy ?? ""), details, status });
}

/** `POST /execute` answers as its protocol says. */
function explainExecution(url: string, status: number, { error, details }: JsonObject): ApiError {
  if (!isJsonObject(details) || typeof details["code"] !== "string") return notPawl(url, status);
  const { code, remedy, ...rest } = details;
  return new ApiError(code, { message: String(error), remedy: String(remedy ?? ""), details: rest, status });
}

/** `location`: where the answer points to. */
export function notPawl(url: string, status: number, location?: string | null): ApiError {
  const elsewhere = status >= 300 && status < 400 ? URL.parse(location ?? "", url) : null;
  return new ApiError("NOT_A_PAWL_SERVER", {
    message:
      elsewhere === null
        ? `${url} answered (${status}), and not as a Pawl server does.`
        : `${url} points to ${elsewhere.origin}${elsewhere.pathname} (${status}), where no key is sent.`,
    remedy: elsewhere === null ? remedyOf(status) : "Name that address itself, if it is your server's.",
    status,
  });
}

function remedyOf(status: number): string {
  if (status >= 500) return "Look whether `pawl serve` runs there: what stands before it may answer in its place.";
  if (status === 401 || status === 403 || status === 407)
    return "Something before the server wants a login of its own: name the address of `pawl serve` itself.";
  return "Look whether the address is right, its path too: `pawl serve` prints its own.";
}
