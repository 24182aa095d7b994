import type { Context } from "hono";
import type { z } from "zod";
import type { KeyScope } from "../../../ports/service/api-keys.ts";
import type { HttpEnv, HttpParts } from "../http-parts.ts";

/** One route of the service: everything that a request, a document and a test need to know of it. */
export interface Endpoint {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Parameters as `{name}`. */
  readonly path: string;
  /** The operation that it is a translation of; unique, in camel case. */
  readonly id: string;
  readonly summary: string;
  readonly tag: string;
  /** `open`: needs no key. */
  readonly scope: KeyScope | "open";
  /** Whether the configuration lets callers in without a key. */
  readonly isOpen?: ((parts: HttpParts) => boolean) | undefined;
  readonly params: z.ZodObject;
  readonly query: z.ZodObject;
  /** That it reads, each with what it means; besides those that every endpoint reads. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Absent: it reads none, or `content`. */
  readonly body: z.ZodType | undefined;
  /** The body is a file. */
  readonly content?: { readonly mediaType: string } | undefined;
  /** The schema of `data` in the envelope, or another media type. */
  readonly answer: z.ZodType | { readonly mediaType: string };
  readonly status: 200 | 201 | 202;
  /** Further statuses of a success. */
  readonly otherStatuses: readonly (200 | 201 | 202 | 204)[];
  /** Throws `REQUEST_INVALID` with every place that does not fit, before anything is done. */
  serve(parts: HttpParts, c: Context<HttpEnv>): Promise<Response>;
}
