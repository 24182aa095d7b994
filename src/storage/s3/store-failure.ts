import { PawlError } from "../../core/errors/pawl-error.ts";

/** What a failure is told about: never a key, a header or what the store says in its own words. */
export interface StorePlace {
  readonly bucket: string;
  /** Undefined: Amazon's own. */
  readonly endpoint: string | undefined;
}

const CHANGED = new Set(["PreconditionFailed", "ConditionalRequestConflict"]);

/** What each refusal means, and which setting it is about. Matched against the name that the store gives it. */
const REFUSALS: readonly (readonly [pattern: RegExp, message: string, remedy: string])[] = [
  [
    /^NoSuchBucket$/,
    "there is no such bucket",
    "Make the bucket, or name one that is there: STORAGE_BUCKET (`storage.bucket`).",
  ],
  [
    /^InvalidBucketName$/,
    "no bucket can have this name",
    "Correct STORAGE_BUCKET (`storage.bucket`): 3 to 63 lower-case letters, digits and hyphens.",
  ],
  [
    /Expired|InvalidToken|RefreshRequired/,
    "the session has expired",
    "Set a new AWS_SESSION_TOKEN with its AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
  ],
  [
    /Redirect|IllegalLocationConstraint|AuthorizationHeaderMalformed|WrongRegion/,
    "the bucket is in another region",
    "Set AWS_REGION (`storage.aws_region`) to the region of the bucket.",
  ],
  [
    /Credentials|InvalidAccessKeyId|SignatureDoesNotMatch/,
    "the keys are missing or wrong",
    "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to keys that the store knows.",
  ],
];
const FORBIDDEN_REMEDY =
  "Let the owner of AWS_ACCESS_KEY_ID list the bucket and get, put and delete its objects, or set other keys. Check STORAGE_BUCKET and STORAGE_ENDPOINT.";

/** There is no such object, or it ends before the range that is asked for begins. */
export function isNotFound(error: unknown): boolean {
  const [name, status] = [nameOf(error), statusOf(error)];
  return name === "NoSuchKey" || status === 416 || (status === 404 && name !== "NoSuchBucket");
}

/**
 * Says whether the store fails (`STORAGE_UNAVAILABLE`, to be tried again), refuses (`STORAGE_REFUSED`, for a person), or has
 * seen a change meanwhile (`STORAGE_CHANGED`). The cause is left out: it holds the request with its headers.
 */
export function toStoreFailure(error: unknown, place: StorePlace): unknown {
  if (error instanceof PawlError || !(error instanceof Error)) return error;
  const [name, status] = [nameOf(error), statusOf(error)];
  const where = `The bucket "${place.bucket}" at ${place.endpoint ?? "Amazon S3"}`;
  if (CHANGED.has(name) || status === 412)
    return new PawlError("STORAGE_CHANGED", { message: `${where}: an object was changed at the same time.` });
  const says = status === undefined ? name : `${status} ${name}`;
  const refusal = REFUSALS.find(([pattern]) => pattern.test(name));
  if (refusal !== undefined) {
    const [, message, remedy] = refusal;
    return new PawlError("STORAGE_REFUSED", { message: `${where}: ${message} (${says}).`, remedy });
  }
  if (isFailing(name, status))
    return new PawlError("STORAGE_UNAVAILABLE", { message: `${where} fails: ${explain(name, says)}.` });
  const remedy = status === 401 || status === 403 ? { remedy: FORBIDDEN_REMEDY } : {};
  return new PawlError("STORAGE_REFUSED", { message: `${where} refuses (${says}).`, ...remedy });
}

const PASSING =
  /^(OperationAborted|SlowDown|RequestTimeout|Throttl|TooManyRequests|RequestTimeTooSkewed|XMinioStorageFull|QuotaExceeded)/;

/** Without a status nothing has answered. */
function isFailing(name: string, status: number | undefined): boolean {
  if (status === undefined || status < 400) return true;
  return status >= 500 || status === 408 || status === 429 || PASSING.test(name);
}

function explain(name: string, says: string): string {
  return name === "AbortError" || name === "TimeoutError" ? "it has not answered in time" : says;
}

/** One word: the SDK's name of a failed answer, else the system's code. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  const name = error.name === "Error" || error.name === "AggregateError" ? codeOf(error) : error.name;
  return /^[A-Za-z0-9_.]{1,60}$/.test(name) ? name : "UnknownError";
}

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}

function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("$metadata" in error)) return undefined;
  const { $metadata: metadata } = error;
  const status = typeof metadata === "object" && metadata !== null && "httpStatusCode" in metadata ? metadata : {};
  return "httpStatusCode" in status && typeof status.httpStatusCode === "number" ? status.httpStatusCode : undefined;
}
