import { z } from "zod";
import { fromIsoTime } from "../core/iso-time.ts";
import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";

/** Any JSON value: what was parsed, or is about to be written, can be nothing else. */
export const jsonSchema = z.unknown().meta({ description: "Any JSON value." }) as z.ZodType<Json, Json>;

/** It looks at no member: `z.record` takes a quarter of a second for the 50,000 that a request may have. */
export const jsonObjectSchema = z
  .unknown()
  .refine((value) => isJsonObject(value as Json), { error: "Invalid input: expected an object" })
  .meta({ type: "object", propertyNames: { type: "string" }, additionalProperties: {} }) as z.ZodType<
  JsonObject,
  JsonObject
>;

/** A file as it is: the whole body of a request or an answer, and never a part of JSON. */
export const bytesSchema = z.instanceof(Uint8Array).meta({ type: "string", format: "binary" });

export const timeSchema = z.iso.datetime();

/**
 * A time that a request gives, in milliseconds since the epoch. A `+` that was not encoded in a query has come as a space.
 */
export const givenTimeSchema = z
  .string()
  .max(40)
  .transform((text, context): number => {
    const at = fromIsoTime(text.replace(/ (?=[\d:]{2,5}$)/, "+"));
    if (at !== undefined) return at;
    context.addIssue("is no day and no time in ISO 8601, such as 2026-05-01 or 2026-05-01T10:20:30Z");
    return z.NEVER;
  })
  .meta({ description: "A day or a time in ISO 8601; in UTC where it names no zone." });

export const errorSchema = z
  .object({ code: z.string(), message: z.string(), remedy: z.string() })
  .meta({ id: "ErrorDescription", description: "What went wrong, and what to do next." });

/** Separated by commas, or given more than once. */
export function severalOf<Each extends z.ZodType<unknown, string>>(each: Each) {
  return z
    .union([z.string(), z.array(z.string())])
    .transform((given) => [given].flat().flatMap((text) => text.split(",")))
    .pipe(z.array(each));
}

/** How many rows of a list are given at once. */
export const MAX_PAGE = 200;
const USUAL_PAGE = 50;

export const pageQuery = {
  limit: z.coerce.number().int().min(1).max(MAX_PAGE).default(USUAL_PAGE).describe("At most so many."),
  cursor: z.string().min(1).max(1_100).optional().describe("`next_cursor` of the page before."),
};

/** A cursor of lists whose rows are numbered. */
export const numberCursor = z
  .string()
  .regex(/^\d{1,15}$/, "is no cursor")
  .optional()
  .describe("`next_cursor` of the page before.");

export const offsetQuery = {
  offset: z.coerce.number().int().min(0).max(1_000_000).optional().describe("For clients that page by number."),
};

/** A page of a list that may grow meanwhile: the next page goes on where this one ended. */
export function listOf<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item), next_cursor: z.string().nullable() });
}

/** For lists that are answered whole: no cursor, and numbers for clients that page by number. */
export const numberedPage = {
  limit: z.coerce.number().int().min(1).max(MAX_PAGE).optional().describe("Absent: the whole list."),
  ...offsetQuery,
};

interface NumberedPage {
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

/** The requested part of a list that is at hand. */
export function takePage<Item>(items: readonly Item[], { limit = items.length, offset = 0 }: NumberedPage) {
  return { items: items.slice(offset, offset + limit), next_cursor: null };
}

/** A page of a list that is at hand, sorted by `keyOf`. The cursor is the key of the last item, right whatever comes meanwhile. */
export function takePageAfter<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  { limit, cursor, offset = 0 }: { readonly limit: number; readonly cursor?: string; readonly offset?: number },
) {
  const rest = items.filter((item) => cursor === undefined || keyOf(item) > cursor).slice(offset);
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  return { items: page, next_cursor: rest.length > limit && last !== undefined ? keyOf(last) : null };
}

const lists = z.registry<{ readonly verb: string }>();

/** A field that names one of many. `listedBy`: the verb that lists them, whose operation says the `word` of each. */
export function idField(sentence: string, listedBy?: string) {
  const field = z.string().min(1).max(2_200).describe(sentence);
  return listedBy === undefined ? field : field.register(lists, { verb: listedBy });
}

/** The verb that lists the values of a field. Undefined: none does. */
export function listedBy(field: z.core.$ZodType): string | undefined {
  return lists.get(field instanceof z.ZodOptional ? field.unwrap() : field)?.verb;
}

/** A second spelling of a field, for clients of the original. */
export function aliasOf<Schema extends z.ZodType>(name: string, schema: Schema) {
  return schema.optional().meta({ description: `Another name of \`${name}\`.`, aliasOf: name });
}

/** A field of operations that may cost money. A client that has lost the answer asks again with the same key. */
export const idempotencyKey = z
  .string()
  .regex(/^[\x20-\x7e]{1,255}$/, "must have 1 to 255 printable ASCII characters")
  .optional()
  .describe("The same key with the same request has the same run for 24 hours; over HTTP also as a header.");

/** Handlers return what nobody may change; the types of schemas allow it. */
export type Frozen<T> = Json extends T
  ? T
  : T extends Uint8Array
    ? Uint8Array
    : T extends readonly (infer Item)[]
      ? readonly Frozen<Item>[]
      : T extends object
        ? { readonly [Key in keyof T]: Frozen<T[Key]> }
        : T;

export const atMostSchema = z
  .number()
  .nullable()
  .describe("Calls of unknown cost count by the most that each may have cost. Null: unknown.");
