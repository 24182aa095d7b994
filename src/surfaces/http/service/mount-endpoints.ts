import type { Context, Hono } from "hono";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { HttpEnv, HttpParts } from "../http-parts.ts";
import type { Endpoint } from "./endpoint.ts";

/** The same routes for clients that expect them below this path, with lists as these clients read them. */
const OLD_PREFIX = "/api";

/** Puts the service's routes in front of the application's. A path of ours takes no other method. */
export function mountEndpoints(http: Hono<HttpEnv>, parts: HttpParts, endpoints: readonly Endpoint[]): void {
  for (const [path, methods] of byPath(endpoints)) {
    for (const prefix of ["", OLD_PREFIX]) {
      const pattern = prefix + toPattern(path);
      for (const endpoint of methods) {
        http.on(endpoint.method, pattern, async (c) => {
          begin(c, prefix);
          await parts.authorize(c, endpoint.scope);
          return endpoint.serve(parts, c);
        });
      }
      http.all(pattern, (c) => {
        begin(c, prefix);
        return refuseMethod(
          c,
          methods.map(({ method }) => method),
        );
      });
    }
  }
}

/** Paths of files have slashes, sent as they are or as `%2F`; nothing else has. */
function toPattern(path: string): string {
  return path.replace(/\{path\}$/, ":path{.+}").replaceAll(/\/\{(\w+)\}/g, "/:$1");
}

function begin(c: Context<HttpEnv>, prefix: string): void {
  c.set("errorShape", "envelope");
  c.set("listShape", prefix === "" ? "cursor" : "numbered");
}

function byPath(endpoints: readonly Endpoint[]): ReadonlyMap<string, readonly Endpoint[]> {
  return Map.groupBy(endpoints, ({ path }) => path);
}

function refuseMethod(c: Context<HttpEnv>, methods: readonly string[]): Response {
  const allowed = [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");
  c.header("allow", allowed);
  if (c.req.method === "OPTIONS") return c.body(null, 204);
  throw new PawlError("METHOD_NOT_ALLOWED", { message: `This path takes ${allowed}.` });
}
