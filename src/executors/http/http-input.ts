import { z } from "zod";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { SECRET_NAME } from "../../core/trust/secret-names.ts";

const values = z.custom<JsonObject>(isJsonObject).catch({});

const INPUT = z.object(
  {
    method: z.enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]).default("GET"),
    /** Of a list the texts at odd places are encoded; empty where one of them is missing. */
    url: z.union([z.string(), z.array(z.custom<Json>()).transform(joinAddress)], "an http task needs a `url`"),
    headers: values,
    query: values,
    /** A text is sent as it is, everything else as JSON. */
    body: z.custom<Json>().default(null),
    /** Absent: 200 to 299. */
    expected_status: z.array(z.number()).optional(),
    auth: z
      .union([
        z.object({ bearer: z.string() }),
        z.object({ basic: z.object({ username: z.string(), password: z.string() }) }),
      ])
      .optional(),
    response: z.enum(["auto", "json", "text"]).default("auto"),
    max_bytes: z.number().optional(),
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

function joinAddress(parts: readonly Json[]): string {
  const texts = parts.map((part, index) => {
    if (part === null || typeof part === "object") return "";
    return index % 2 === 0 || (index === 1 && parts[0] === "") ? String(part) : encodeURIComponent(String(part));
  });
  return texts.some((text, index) => text === "" && index % 2 === 1) ? "" : texts.join("");
}

/** The header that `auth` asks for. */
export function authorizationOf({ auth }: HttpInput): string | undefined {
  if (auth === undefined) return undefined;
  if ("bearer" in auth) return `Bearer ${auth.bearer}`;
  return `Basic ${Buffer.from(`${auth.basic.username}:${auth.basic.password}`).toString("base64")}`;
}

/** Whole, and without the word before it: `Bearer abc`. */
export function secretsOf(input: HttpInput): readonly string[] {
  const { headers, auth } = input;
  const authorization = authorizationOf(input);
  const password = auth !== undefined && "basic" in auth ? { password: auth.basic.password } : {};
  return Object.entries({ ...headers, ...(authorization === undefined ? {} : { authorization }), ...password }).flatMap(
    ([name, value]) => (isSecret(name) && typeof value === "string" ? [value, value.replace(/^\S+\s+/, "")] : []),
  );
}

function isSecret(header: string): boolean {
  return SECRET_NAME.test(header) && header.toLowerCase() !== "idempotency-key";
}
