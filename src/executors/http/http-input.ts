import { z } from "zod";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { SECRET_NAME } from "../../core/trust/secret-names.ts";

const values = z.custom<JsonObject>(isJsonObject).catch({});

/** Of a list the texts at odd places are encoded; empty where one of them is missing, or is `..`, which would lead to another path. */
const ADDRESS = z.union([z.string(), z.array(z.custom<Json>()).transform(joinAddress)], "an http task needs a `url`");

/** Where the items are in each body, and how the next page is found: one of the ways, or else by the header `Link`. */
const PAGES = z.object({
  items: z.string().default(""),
  next: z.string().optional(),
  cursor: z.object({ path: z.string(), parameter: z.string() }).optional(),
  offset: z.string().optional(),
  page: z.string().optional(),
  max: z.number().default(100),
});

export type Pages = Readonly<z.infer<typeof PAGES>>;

const INPUT = z.object(
  {
    method: z.enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]).default("GET"),
    url: ADDRESS,
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
        z.object({
          oauth: z.object({
            token_url: ADDRESS,
            client_id: z.string(),
            client_secret: z.string(),
            scope: z.string().optional(),
            audience: z.string().optional(),
            send_in: z.enum(["header", "body"]).optional(),
          }),
        }),
      ])
      .optional(),
    response: z.enum(["auto", "json", "text", "file"]).default("auto"),
    /** Sent encoded, in place of a body. */
    form: z.custom<JsonObject>(isJsonObject).optional(),
    pages: PAGES.optional(),
    max_bytes: z.number().optional(),
  },
  "an http task needs an object as its input",
);

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
  return texts.some((text, index) => index % 2 === 1 && /^\.{0,2}$/.test(text)) ? "" : texts.join("");
}

/** The header that `auth` asks for. */
export function authorizationOf({ auth }: HttpInput): string | undefined {
  if (auth === undefined) return undefined;
  if ("bearer" in auth) return `Bearer ${auth.bearer}`;
  if ("oauth" in auth) return undefined;
  return basicHeader(auth.basic.username, auth.basic.password);
}

export function basicHeader(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

/** Whole, and without the word before it: `Bearer abc`. */
export function secretsOf(input: HttpInput): readonly string[] {
  const { headers, auth } = input;
  const given = [
    ...Object.entries(headers)
      .filter(([name]) => SECRET_NAME.test(name) && name.toLowerCase() !== "idempotency-key")
      .map(([, value]) => value),
    ...authSecrets(auth),
  ];
  return given.flatMap((value) => (typeof value === "string" ? [value, value.replace(/^\S+\s+/, "")] : []));
}

function authSecrets(auth: HttpInput["auth"]): readonly string[] {
  if (auth === undefined) return [];
  if ("bearer" in auth) return [`Bearer ${auth.bearer}`];
  const [name, secret] =
    "basic" in auth ? [auth.basic.username, auth.basic.password] : [auth.oauth.client_id, auth.oauth.client_secret];
  return [secret, basicHeader(name, secret), basicHeader(encodeURIComponent(name), encodeURIComponent(secret))];
}
