import type { ErrorCode } from "../../core/errors/error-table.ts";
import { writeExact } from "../../core/exact-json.ts";
import { fieldOf } from "../../core/graph/event-match.ts";
import { isJsonObject, type Json, ownField } from "../../core/json.ts";
import type { Outcome } from "../../ports/executor.ts";
import { toFailed } from "../output/failure.ts";
import type { HttpInput, Pages } from "./http-input.ts";

/** `<https://api.example.com/orders?page=2>; rel="next"` (RFC 8288). */
const NEXT_LINK = /<([^>]*)>\s*;[^<]*?\brel\s*=\s*"?[^",;]*\bnext\b/i;

/**
 * Asks for one page after the other and puts their items together: the output is that of the last page, with all items as its body.
 * Ends with `HTTP_FAILED` where a page has no list, or leads to another server, which would be sent what is meant for this one.
 */
export async function followPages(
  input: HttpInput,
  pages: Pages,
  { ask, maxBytes }: { ask(page: HttpInput): Promise<Outcome>; readonly maxBytes: number },
): Promise<Outcome> {
  const items: Json[] = [];
  let left = maxBytes;
  const origin = URL.parse(input.url.trim())?.origin;
  let page: HttpInput = pages.page === undefined ? input : withQuery(input, pages.page, 1);
  for (let number = 1; ; number += 1) {
    const outcome = await ask(page);
    if (outcome.status !== "succeeded" || !isJsonObject(outcome.output)) return outcome;
    const { body = null, headers = {} } = outcome.output;
    const found = readPath(body, pages.items);
    if (!Array.isArray(found))
      return fail("HTTP_FAILED", `page ${number} has no list at \`${pages.items || "its body"}\``, input);
    left -= Buffer.byteLength(writeExact(found));
    if (left < 0)
      return fail("OUTPUT_TOO_LARGE", "the pages are larger than `limits.max_output_bytes` or the step allows", input);
    items.push(...found);
    const next = findNext({ body, headers, found, items, number }, { input, page, pages });
    if (next === undefined || number >= pages.max)
      return { ...outcome, output: { ...outcome.output, body: items, pages: number, hasMore: next !== undefined } };
    if (URL.parse(next.url)?.origin !== origin) return fail("HTTP_FAILED", "the next page is at another server", input);
    page = next;
  }
}

interface Read {
  readonly body: Json;
  readonly headers: Json;
  readonly found: readonly Json[];
  readonly items: readonly Json[];
  readonly number: number;
}

/** Undefined: there are no more. */
function findNext(
  { body, headers, found, items, number }: Read,
  { input, page, pages }: { readonly input: HttpInput; readonly page: HttpInput; readonly pages: Pages },
): HttpInput | undefined {
  if (pages.page !== undefined) return found.length === 0 ? undefined : withQuery(input, pages.page, number + 1);
  if (pages.offset !== undefined) return found.length === 0 ? undefined : withQuery(input, pages.offset, items.length);
  if (pages.cursor !== undefined) {
    const cursor = readPath(body, pages.cursor.path);
    return isEmpty(cursor) ? undefined : withQuery(input, pages.cursor.parameter, cursor);
  }
  const link = isJsonObject(headers) ? ownField(headers, "link") : undefined;
  const next =
    pages.next === undefined ? NEXT_LINK.exec(typeof link === "string" ? link : "")?.[1] : readPath(body, pages.next);
  if (typeof next !== "string" || next === "") return undefined;
  // The address has its own query.
  return { ...input, url: URL.parse(next, page.url)?.href ?? "", query: {} };
}

function withQuery(input: HttpInput, name: string, value: Json): HttpInput {
  return { ...input, query: { ...input.query, [name]: value } };
}

function isEmpty(cursor: Json): boolean {
  return cursor === null || cursor === "" || cursor === false;
}

/** `data.items`; an empty path is the whole. Null: it leads nowhere. */
function readPath(value: Json, path: string): Json {
  return path === "" ? value : (fieldOf(value, path) ?? null);
}

function fail(code: ErrorCode, why: string, { url }: HttpInput): Outcome {
  const message = `${URL.parse(url.trim())?.origin}: ${why}.`;
  return toFailed(code, { message, retryable: false, effect: "none" });
}
