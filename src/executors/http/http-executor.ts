import { validateHeaderName, validateHeaderValue } from "node:http";
import { writeExact } from "../../core/exact-json.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { Executor, Outcome, Task } from "../../ports/executor.ts";
import type { Outbound, OutboundRequest } from "../../ports/outbound.ts";
import type { CapacityPools } from "../capacity/capacity-pools.ts";
import { createRedactor, redactOutcome } from "../output/redact.ts";
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

/** Sends one request, as the outbound guard allows. It waits in its server's pool after 429, or 503 with `Retry-After`. Secret headers are masked. */
export function createHttpExecutor(options: HttpOptions): Executor<Outcome> {
  return {
    recordsInput: true,
    runsElsewhere: true,
    async run(task, signal) {
      const input = readHttpInput(task.input);
      const startedAt = performance.now();
      const outcome = await request(input, { task, options }, signal);
      const usage = { duration_ms: Math.round(performance.now() - startedAt) };
      return { ...redactOutcome(outcome, createRedactor(secretsOf(input))), usage };
    },
  };
}

async function request(
  input: HttpInput,
  { task, options }: { readonly task: Task; readonly options: HttpOptions },
  signal: AbortSignal,
): Promise<Outcome> {
  const asked = toRequest(input, task);
  if ("problem" in asked) return toUnsendable(asked.problem);
  const { outbound, maxBytes, capacity } = options;
  const limits = {
    timeoutMs: task.timeoutMs ?? options.timeoutMs,
    maxBytes: Math.min(maxBytes, input.max_bytes ?? maxBytes),
    maxRedirects: MAX_REDIRECTS,
  };
  const send = async () => toOutcome(await outbound.request({ ...asked, ...limits, reach: task.reach }, signal), input);
  if (capacity === undefined) return send();
  return capacity.ofServer(new URL(asked.url)).send<Outcome>(
    {
      caller: task,
      send,
      failureOf: (outcome) => (outcome.status === "failed" ? outcome : undefined),
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
  if (url === null) return { problem: "`url` is no address, or a value in it is missing." };
  addQuery(url, input.query);
  const body = toBody(input.body);
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

function addQuery(url: URL, query: JsonObject): void {
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value])
      if (each !== null) url.searchParams.append(name, toText(each));
  }
}

function toBody(body: Json): { readonly type: string; readonly text: string } | undefined {
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
