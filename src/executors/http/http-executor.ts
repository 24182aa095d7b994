import { validateHeaderName, validateHeaderValue } from "node:http";
import { writeExact } from "../../core/exact-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import type { Executor, Failed, Outcome, Task } from "../../ports/executor.ts";
import type { Outbound, OutboundRequest } from "../../ports/outbound.ts";
import type { CapacityPools } from "../capacity/capacity-pools.ts";
import { createRedactor, redactOutcome } from "../output/redact.ts";
import { AccessTokens } from "./access-tokens.ts";
import { followPages } from "./follow-pages.ts";
import { authorizationOf, type HttpInput, isSafe, readHttpInput, secretsOf } from "./http-input.ts";
import { toOutcome, toUnsendable } from "./to-outcome.ts";

export interface HttpOptions {
  readonly outbound: Outbound;
  /** Where the step has no time-out of its own. */
  readonly timeoutMs: number;
  /** The largest body of an answer. */
  readonly maxBytes: number;
  readonly capacity?: CapacityPools;
}

const MAX_REDIRECTS = 5;

/** Sends one request, as the outbound guard allows. It waits in its server's pool after 429 or 503 with `Retry-After`; every other failure is an attempt of the step. Secret headers are masked. */
export function createHttpExecutor(options: HttpOptions): Executor<Outcome> {
  const tokens = new AccessTokens();
  return {
    recordsInput: true,
    runsElsewhere: true,
    async run(task, signal) {
      const input = readHttpInput(task.input);
      const startedAt = performance.now();
      const secrets = new Set(secretsOf(input));
      const one = (page: HttpInput) => withToken(page, { task, options, tokens, secrets }, signal);
      const { maxBytes } = limitsOf(task, options, input.max_bytes);
      const outcome = await (input.pages === undefined
        ? one(input)
        : followPages(input, input.pages, { ask: one, maxBytes }));
      const usage = { duration_ms: Math.round(performance.now() - startedAt) };
      return { ...redactOutcome(outcome, createRedactor([...secrets])), usage };
    },
  };
}

interface Asking {
  readonly task: Task;
  readonly options: HttpOptions;
  readonly tokens: AccessTokens;
  /** What no answer may show: the tokens are added. */
  readonly secrets: Set<string>;
}

/** A token that is refused has been looked at before the request was: another one is asked for, once. */
async function withToken(input: HttpInput, asking: Asking, signal: AbortSignal): Promise<Outcome> {
  const { auth } = input;
  if (auth === undefined || !("oauth" in auth)) return request(input, asking, signal);
  const { tokens, secrets, options, task } = asking;
  const limits = { ...limitsOf(task, options), maxRedirects: 0, reach: task.reach };
  const ask = async () => {
    const token = await tokens.get(auth.oauth, (asked) => options.outbound.request({ ...asked, ...limits }, signal));
    if (typeof token !== "string") return token;
    secrets.add(token);
    return request({ ...input, auth: { bearer: token } }, asking, signal);
  };
  const outcome = await ask();
  if (outcome.status !== "failed" || statusOf(outcome) !== 401) return outcome;
  tokens.forget(auth.oauth);
  return ask();
}

/** Such a refusal is no attempt. A server that only says no is asked as often as the step's retry policy says, not for an hour. */
function namesItsTime({ details = null }: Failed): boolean {
  return isJsonObject(details) && details["retry_after"] !== undefined;
}

function statusOf({ details = null }: Failed): Json | undefined {
  return isJsonObject(details) ? details["status"] : undefined;
}

function limitsOf(task: Task, options: HttpOptions, maxBytes = options.maxBytes) {
  return { timeoutMs: task.timeoutMs ?? options.timeoutMs, maxBytes: Math.min(maxBytes, options.maxBytes) };
}

async function request(
  input: HttpInput,
  { task, options }: Pick<Asking, "task" | "options">,
  signal: AbortSignal,
): Promise<Outcome> {
  const asked = toRequest(input, task);
  if ("problem" in asked) return toUnsendable(asked.problem);
  const { outbound, capacity } = options;
  const limits = { ...limitsOf(task, options, input.max_bytes), maxRedirects: MAX_REDIRECTS };
  const send = async () => toOutcome(await outbound.request({ ...asked, ...limits, reach: task.reach }, signal), input);
  if (capacity === undefined) return send();
  return capacity.ofServer(new URL(asked.url)).send<Outcome>(
    {
      caller: task,
      send,
      failureOf: (outcome) => (outcome.status === "failed" && namesItsTime(outcome) ? outcome : undefined),
      toReply: (failed) => failed,
    },
    signal,
  );
}

type Request = Pick<OutboundRequest, "url" | "method" | "headers" | "body">;

/** Why a request cannot be sent. */
interface Unsendable {
  readonly problem: string;
}

/** The request of a step. One that may change something bears the idempotency key, unless the step gives one. */
function toRequest(input: HttpInput, { idempotencyKey }: Pick<Task, "idempotencyKey">): Request | Unsendable {
  const url = URL.parse(input.url.trim());
  if (url === null) return { problem: "`url` is no address, or a value in it is missing or `..`." };
  addTo(url.searchParams, input.query);
  const body = toBody(input);
  const own = toHeaders(input.headers);
  if ("problem" in own) return own;
  const authorization = authorizationOf(input);
  const headers = {
    ...(isSafe(input) ? {} : { "idempotency-key": idempotencyKey }),
    ...(body === undefined
      ? {}
      : { "content-type": body.type, "content-length": String(Buffer.byteLength(body.text)) }),
    accept: "application/json, text/*;q=0.9, */*;q=0.5",
    ...(authorization === undefined ? {} : { authorization }),
    ...own.headers,
  };
  return { url: url.href, method: input.method, headers, ...(body === undefined ? {} : { body: body.text }) };
}

/** A list comes once for each entry, and what is missing not at all. */
function addTo(fields: URLSearchParams, values: JsonObject): void {
  for (const [name, value] of Object.entries(values)) {
    for (const each of Array.isArray(value) ? value : [value]) if (each !== null) fields.append(name, toText(each));
  }
}

function toBody({ body, form }: HttpInput): { readonly type: string; readonly text: string } | undefined {
  if (form !== undefined) {
    const fields = new URLSearchParams();
    addTo(fields, form);
    return { type: "application/x-www-form-urlencoded", text: fields.toString() };
  }
  if (body === null) return undefined;
  if (typeof body === "string") return { type: "text/plain; charset=utf-8", text: body };
  return { type: "application/json", text: writeExact(body) };
}

function toHeaders(written: JsonObject): { readonly headers: Record<string, string> } | Unsendable {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(written)) {
    if (value === null) continue;
    const text = toText(value);
    try {
      validateHeaderName(name);
      validateHeaderValue(name, text);
    } catch {
      return { problem: `The header \`${name.slice(0, 100)}\` has a name or a value that headers cannot have.` };
    }
    headers[name.toLowerCase()] = text;
  }
  return { headers };
}

function toText(value: Json): string {
  return typeof value === "string" ? value : writeExact(value);
}
