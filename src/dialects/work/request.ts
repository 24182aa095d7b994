import type { JsonObject } from "../../core/json.ts";
import { expected, optional, withDefault } from "../shape/fields.ts";
import { object, type Spelling } from "../shape/object.ts";
import { choice, filled, integer, text } from "../shape/scalars.ts";
import { type Shape, seldom, to } from "../shape/shape.ts";

interface Writing<V> {
  readonly value: Shape<V>;
  /** Of who gives tokens. */
  readonly address: Shape<V>;
  readonly spell: Spelling;
  /** How values are written. */
  readonly says: string;
}

/** Who asks, in the words of the executor. `under`: where they stand in them. */
export interface Auth<V> {
  readonly under?: "basic" | "oauth";
  readonly values: { readonly [name: string]: V | undefined };
  readonly fixed?: { readonly send_in: string };
}

/** Keys of a request that mean the same in all dialects. */
export const requestFields = {
  method: withDefault(choice(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]), "GET", "The method."),
  response: withDefault(
    choice(["auto", "json", "text", "file"]),
    "auto",
    "What the body of the answer is read as; `auto`: JSON where the answer says so, else text; `file`: its bytes become a file of the run, and `body` is `{file, bytes, type}`.",
  ),
  maxBytes: optional(integer(1), "The largest answer, in bytes.", {
    otherwise: "`limits.max_output_bytes` of the configuration",
  }),
};

const PAGES =
  "All pages of a list are asked for, one after the other: `body` of the output is the list of all items. A page that fails fails the step; `offset` and `page` end at an empty one.";
const AUTH = `Who asks. A secret that is written as \`\${NAME}\` is in no record.`;

/** Those of them in which a dialect has a spelling of its own. */
export const requestFieldsIn = <V>(writing: Writing<V>) => ({
  pages: optional(
    seldom(() => pagesOf(writing.spell)),
    PAGES,
  ),
  auth: optional(
    seldom(() => authOf(writing)),
    AUTH,
  ),
});

function authOf<V>({ value, address, spell, says }: Writing<V>): Shape<Auth<V>> {
  const auth = object(
    {
      bearer: optional(value, `A token: \`Authorization: Bearer ...\`.${says}`),
      basic: optional(
        object({ username: expected(value, "The name."), password: expected(value, "The password.") }),
        "A name and a password.",
      ),
      oauth: optional(
        spell(
          object({
            tokenUrl: expected(address, "Who gives the token; as the `url`, it may hold values."),
            clientId: expected(value, "The client's id."),
            clientSecret: expected(value, "The client's secret."),
            scope: optional(value, "What is asked for."),
            audience: optional(value, "For whom the token is, where the issuer wants it."),
            sendIn: withDefault(choice(["header", "body"]), "header", "Where the client says who it is."),
          }),
        ),
        `OAuth client credentials: a token is fetched, kept in memory while it lasts, and is in no record.${says}`,
      ),
    },
    {
      someOf: {
        keys: ["bearer", "basic", "oauth"],
        none: "`auth` says nothing.",
        several: "`auth` says two things.",
        remedy: "Give one of `bearer`, `basic` and `oauth`.",
      },
    },
  );
  return to(auth, ({ bearer, basic, oauth }): Auth<V> => {
    if (basic !== undefined) return { under: "basic", values: { username: basic.username, password: basic.password } };
    if (oauth === undefined) return { values: { bearer } };
    const { tokenUrl: token_url, clientId: client_id, clientSecret: client_secret, scope, audience } = oauth;
    const values = { token_url, client_id, client_secret, scope, audience };
    return { under: "oauth", values, fixed: { send_in: oauth.sendIn } };
  });
}

function pagesOf(spell: Spelling) {
  const inBody = text({ pattern: "^[^.\\s\\[\\]]+(\\.[^.\\s\\[\\]]+)*$", examples: ["data.items"] });
  const pages = object(
    {
      items: optional(inBody, "Where the list is in each body.", { otherwise: "the body itself" }),
      link: optional(choice(["next"]), "The header `Link` leads on, with this `rel`."),
      next: optional(inBody, "Where the body has the next address."),
      cursor: optional(
        object({
          path: expected(inBody, "Where the body has the next cursor."),
          parameter: expected(filled("cursor"), "The parameter of `query` that it is sent as."),
        }),
        "A cursor leads on.",
      ),
      offset: optional(filled("offset"), "The parameter of `query` that says how many items there were already."),
      page: optional(filled("page"), "The parameter of `query` that counts pages, from 1."),
      maxPages: withDefault(
        integer(1, 1000),
        100,
        "So many at most: `hasMore` of the output says whether there are others.",
      ),
    },
    {
      someOf: {
        keys: ["link", "next", "cursor", "offset", "page"],
        none: "`pages` does not say how the next one is found.",
        several: "`pages` says two ways to the next one.",
        remedy: "Give one of `link`, `next`, `cursor`, `offset` and `page`.",
      },
    },
  );
  // The header `Link` is what leads on where nothing else does.
  return to(spell(pages), ({ at, items, next, cursor, offset, page, maxPages }) => {
    const given = Object.entries({ items, next, offset, page }).flatMap(([name, written]) =>
      written === undefined ? [] : [[name, written.value] as const],
    );
    const { path, parameter } = cursor ?? {};
    const led = path && parameter && { cursor: { path: path.value, parameter: parameter.value } };
    const words: JsonObject = { ...Object.fromEntries(given), ...led, max: maxPages };
    return { at, words };
  });
}

interface Sent {
  readonly method: string;
  readonly body: unknown;
  readonly form: unknown;
  readonly pages: unknown;
  readonly response: string;
}

/** What would not be sent, or not be read as it says. */
export function unsentParts({ method, body, form, pages, response }: Sent) {
  const found: { readonly key: "body" | "form" | "pages"; readonly message: string; readonly remedy: string }[] = [];
  if ((method === "GET" || method === "HEAD") && (body ?? form) !== undefined) {
    const remedy = "Write `method: POST`, or send the values as `query`.";
    found.push({ key: body === undefined ? "form" : "body", message: `\`${method}\` sends no body.`, remedy });
  } else if (body !== undefined && form !== undefined)
    found.push({ key: "form", message: "`form` stands beside `body`.", remedy: "Give one of them." });
  if (pages !== undefined && method !== "GET")
    found.push({ key: "pages", message: "Pages are read with `GET`.", remedy: "Write `method: GET`." });
  else if (pages !== undefined && (response === "file" || response === "text")) {
    const message = `Pages are read as JSON, not as \`${response}\`.`;
    found.push({ key: "pages", message, remedy: "Leave `response` out." });
  }
  return found;
}
