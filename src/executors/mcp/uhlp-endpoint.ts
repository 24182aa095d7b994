import { type ErrorCode, isErrorCode } from "../../core/errors/error-table.ts";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { writeExact } from "../../core/exact-json.ts";
import { isBase64 } from "../../core/expressions/encodings.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { parseJson } from "../../core/parse-json.ts";
import { decodeUtf8 } from "../../ports/decode-utf8.ts";
import type { Failed, Outcome } from "../../ports/executor.ts";
import type {
  DefinitionFile,
  DefinitionFileRequest,
  EndpointAddress,
  EndpointCall,
  ToolEndpoint,
} from "../../ports/tools/tool-endpoint.ts";
import { toFailed, toRefused } from "../output/failure.ts";

export interface UhlpEndpointOptions extends EndpointSettings {
  /** Default 30,000. */
  readonly timeoutMs?: number;
  /** Default 16 MiB. */
  readonly maxResponseBytes?: number;
}

const TIMEOUT_MS = 30_000;
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;
const MAX_SHOWN_CHARS = 300;

/** Asks for tools with plain HTTP. Only known endpoints are asked, redirects are not followed, answers are bounded. */
export class UhlpEndpoint implements ToolEndpoint {
  readonly #options: UhlpEndpointOptions;

  constructor(options: UhlpEndpointOptions) {
    this.#options = options;
  }

  get isConfigured(): boolean {
    return this.#options.configured !== undefined;
  }

  async call(call: EndpointCall, signal: AbortSignal): Promise<Outcome> {
    const url = this.#find(call);
    if (!(url instanceof URL)) return url;
    const timeout = call.isTimedByCaller ? undefined : AbortSignal.timeout(this.#options.timeoutMs ?? TIMEOUT_MS);
    try {
      const response = await post(url, call, timeout === undefined ? signal : AbortSignal.any([signal, timeout]));
      const text = await readBounded(response, this.#options.maxResponseBytes ?? MAX_RESPONSE_BYTES);
      return text === undefined ? tooLarge(url) : toOutcome(url, response, text);
    } catch (error) {
      if (signal.aborted) return failed("INTERRUPTED", "The call was cancelled.", true);
      if (timeout?.aborted) return failed("TIMEOUT", `The tool endpoint ${url.origin} did not answer in time.`, true);
      return toUnreachable(url, error);
    }
  }

  async readDefinitionFile(file: DefinitionFileRequest, signal: AbortSignal): Promise<DefinitionFile> {
    const { endpoint, context, filePath, revision } = file;
    const params = {
      ...(context.appId === undefined ? {} : { app_id: context.appId }),
      file_path: filePath,
      ...(revision === undefined ? {} : { revision }),
    };
    const call = { endpoint, context, tool: "core.state.getDefinitionFileContent", params };
    const outcome = await this.call(call, signal);
    if (outcome.status === "failed") throw toPawlError(outcome, filePath);
    return readFileAnswer(outcome.output, filePath);
  }

  #find({ endpoint }: EndpointAddress): URL | Failed {
    const named = endpoint ?? this.#options.configured;
    if (named === undefined) return refused("No tool endpoint is configured.");
    return findAllowed(named, this.#options) ?? refused(`${shorten(writeExact(named))} is no known tool endpoint.`);
  }
}

function post(
  url: URL,
  { tool, params, context, runId, idempotencyKey }: EndpointCall,
  signal: AbortSignal,
): Promise<Response> {
  const { requestId = runId, traceId } = context;
  return fetch(url, {
    method: "POST",
    redirect: "manual",
    headers: {
      "content-type": "application/json",
      accept: "application/json",
      ...(requestId === undefined ? {} : { "x-request-id": toHeader(requestId) }),
      ...(traceId === undefined ? {} : { "x-trace-id": toHeader(traceId) }),
      ...(idempotencyKey === undefined ? {} : { "idempotency-key": toHeader(idempotencyKey) }),
    },
    body: writeExact({ tool, params, context: { ...context, requestId } }),
    signal,
  });
}

/** Ids come from requests and may hold anything. */
function toHeader(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?").slice(0, 200);
}

/** An error is one whatever the HTTP status; data counts only with a good one. */
function toOutcome(url: URL, response: Response, text: string): Outcome {
  const answer = parseJson(text);
  const error = isJsonObject(answer) ? findError(answer) : undefined;
  if (error !== undefined) return toToolFailure(error);
  if (response.ok && isJsonObject(answer) && "data" in answer)
    return { status: "succeeded", output: answer["data"] ?? null, costMicro: 0 };
  if (response.status >= 300 && response.status < 400)
    return failed(
      "ENDPOINT_FAILED",
      `The tool endpoint ${url.origin} answered with a redirect, which is not followed.`,
    );
  const shown = text.trim() === "" ? "nothing" : shorten(text);
  return failed(
    "ENDPOINT_FAILED",
    `The tool endpoint ${url.origin} answered HTTP ${response.status} with no \`data\`: ${shown}`,
    response.status >= 500,
  );
}

/** `{error: {...}}`, and the older `{success: false, error}`. */
function findError({ error, success }: JsonObject): Json | undefined {
  if (error !== undefined && error !== null) return error;
  return success === false ? "The tool reported a failure." : undefined;
}

/** With the tool's own code, so that transitions of a workflow can name it. */
function toToolFailure(error: Json): Failed {
  const { code, message, details } = isJsonObject(error) ? error : { message: error };
  const facts = {
    message: typeof message === "string" ? message : shorten(writeExact(error)),
    retryable: true,
    effect: "unknown",
    isAnswered: true,
    costMicro: 0,
    ...(details === undefined || details === null ? {} : { details }),
  } as const;
  const own = typeof code === "string" || typeof code === "number" ? String(code) : "";
  return own === "" ? toFailed("MCP_TOOL_FAILED", facts) : { status: "failed", code: own, ...facts };
}

function toUnreachable(url: URL, error: unknown): Failed {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `The tool endpoint ${url.origin} cannot be reached: ${reason}`;
  const effect = isConnectionRefused(error) ? "none" : "unknown";
  return toFailed("MCP_UNREACHABLE", { message, retryable: true, effect, costMicro: 0 });
}

function refused(message: string): Failed {
  return toRefused("ENDPOINT_NOT_ALLOWED", message);
}

function tooLarge(url: URL): Failed {
  return failed("OUTPUT_TOO_LARGE", `The tool endpoint ${url.origin} sent an answer that is too large to be held.`);
}

function failed(code: ErrorCode, message: string, retryable = false): Failed {
  return toFailed(code, { message, retryable, effect: "unknown", costMicro: 0 });
}

function toPawlError({ code, message, details }: Failed, filePath: string): PawlError {
  const known = isErrorCode(code) ? code : code === "NOT_FOUND" ? "WORKFLOW_NOT_FOUND" : "ENDPOINT_FAILED";
  const told = isErrorCode(code) ? message : `${code}: ${message}`;
  return new PawlError(known, { message: `${filePath}: ${told}`, ...(details === undefined ? {} : { details }) });
}

function readFileAnswer(answer: Json, filePath: string): DefinitionFile {
  const { content, encoding, revision } = isJsonObject(answer) ? answer : {};
  if (typeof content !== "string")
    throw new PawlError("ENDPOINT_FAILED", { message: `${filePath}: the tool endpoint's answer has no \`content\`.` });
  const text = decodeContent(content, encoding);
  return { content: text, ...(typeof revision === "string" ? { revision } : {}) };
}

function shorten(text: string): string {
  return text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}...` : text;
}

/** Shorter texts are words. */
const LEAST_BASE64 = 16;

/** Decodes a file: plain text, or base64 if the answer says so or the text can be nothing else. The format's documents disagree about it. */
function decodeContent(content: string, encoding: Json | undefined): string {
  const isFlagged = encoding === "base64";
  if (!isFlagged && (encoding !== undefined || !mayBeBase64(content))) return content;
  const decoded = decodeBase64(content);
  return decoded ?? content;
}

function mayBeBase64(content: string): boolean {
  const packed = content.trimEnd().replace(/[\r\n]/g, "");
  return packed.length >= LEAST_BASE64 && isBase64(packed);
}

function decodeBase64(content: string): string | undefined {
  const packed = content.replace(/\s/g, "");
  return packed.length % 4 === 0 ? decodeUtf8(Buffer.from(packed, "base64"), "drop") : undefined;
}

/** The body as text; undefined where it is larger, and then the rest is not read. */
async function readBounded(response: Response, maxBytes: number): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  // Without a byte order mark.
  return new TextDecoder().decode(Buffer.concat(chunks));
}

/** Nothing listens there, so nothing can have happened. */
function isConnectionRefused(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("code" in error && error.code === "ECONNREFUSED") return true;
  return isConnectionRefused(error.cause);
}

interface EndpointSettings {
  /** The one that is used where a request names none. */
  readonly configured?: string | undefined;
  /** Exact URLs, or origins that allow everything below them. */
  readonly allowed: readonly string[];
}

/** The URL, where it may be asked. A request's endpoint is untrusted: it must be on the list. */
export function findAllowed(endpoint: string, { configured, allowed }: EndpointSettings): URL | undefined {
  const url = toEndpointUrl(endpoint);
  if (url === undefined) return undefined;
  const listed = [...allowed, ...(configured === undefined ? [] : [configured])];
  return listed.some((entry) => allows(entry, url, entry === configured)) ? url : undefined;
}

function allows(entry: string, url: URL, isExact: boolean): boolean {
  const listed = toEndpointUrl(entry);
  if (listed === undefined) return false;
  const isOrigin = listed.pathname === "/" && listed.search === "";
  return isOrigin && !isExact ? listed.origin === url.origin : listed.href === url.href;
}

function toEndpointUrl(text: string): URL | undefined {
  const url = URL.parse(text);
  if (url === null || !["http:", "https:"].includes(url.protocol)) return undefined;
  if (url.username !== "" || url.password !== "") return undefined;
  url.hash = "";
  return url;
}
