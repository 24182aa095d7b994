import { z } from "zod";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { SECRET_NAME } from "../../core/trust/secret-names.ts";

const values = z.custom<JsonObject>(isJsonObject).catch({});

const INPUT = z.object(
  {
    method: z.enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]).default("GET"),
    url: z.string("an http task needs a `url`"),
    headers: values,
    query: values,
    /** A text is sent as it is, everything else as JSON. */
    body: z.custom<Json>().default(null),
    /** Absent: 200 to 299. */
    expected_status: z.array(z.number()).optional(),
  },
  "an http task needs an object as its input",
);

/** The input of the HTTP executor: `Task.input`. */
export type HttpInput = Readonly<z.infer<typeof INPUT>>;

/** Reads a bound task input. A dialect that binds something else has a defect, so this throws a plain error. */
export function readHttpInput(input: Json): HttpInput {
  return INPUT.parse(input);
}

/** Reading changes nothing there: it can always be done again. */
export function isSafe({ method }: Pick<HttpInput, "method">): boolean {
  return method === "GET" || method === "HEAD";
}

/** Whole, and without the word before it: `Bearer abc`. */
export function secretsOf({ headers }: HttpInput): readonly string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    isSecret(name) && typeof value === "string" ? [value, value.replace(/^\S+\s+/, "")] : [],
  );
}

function isSecret(header: string): boolean {
  return SECRET_NAME.test(header) && header.toLowerCase() !== "idempotency-key";
}
