import { validateHeaderName, validateHeaderValue } from "node:http";
import { writeExact } from "../../core/exact-json.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { Task } from "../../ports/executor.ts";
import type { OutboundRequest } from "../../ports/outbound.ts";
import { type HttpInput, isSafe } from "./http-input.ts";

type Request = Pick<OutboundRequest, "url" | "method" | "headers" | "body">;

/** Why a request cannot be sent. */
export interface Unsendable {
  readonly problem: string;
}

/** The request of a step. One that may change something bears the idempotency key, unless the step gives one. */
export function toRequest(input: HttpInput, { idempotencyKey }: Pick<Task, "idempotencyKey">): Request | Unsendable {
  const url = URL.parse(input.url.trim());
  if (url === null) return { problem: "`url` is no address." };
  addQuery(url, input.query);
  const body = toBody(input.body);
  const own = toHeaders(input.headers);
  if ("problem" in own) return own;
  const headers = {
    ...(isSafe(input) ? {} : { "idempotency-key": idempotencyKey }),
    ...(body === undefined
      ? {}
      : { "content-type": body.type, "content-length": String(Buffer.byteLength(body.text)) }),
    accept: "application/json, text/*;q=0.9, */*;q=0.5",
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
