import type { Context, Hono } from "hono";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { HttpEnv, HttpParts } from "../http-parts.ts";
import type { Endpoint } from "./endpoint.ts";

/** The same routes for clients that expect them below this path, with lists as these clients read them. */
const OLD_PREFIX = "/api";

/**
 * Puts the service's routes in front of the application's. A path of ours takes no other method. Returns the patterns of these
 * paths.
 */
export function mountEndpoints(
  http: Hono<HttpEnv>,
  parts: HttpParts,
  endpoints: readonly Endpoint[],
): readonly string[] {
  const patterns: string[] = [];
  for (const [path, methods] of Map.groupBy(endpoints, ({ path }) => path)) {
    for (const prefix of ["", OLD_PREFIX]) {
      const pattern = prefix + toPattern(path);
      patterns.push(pattern);
      for (const endpoint of methods) {
        const way = { mayBeInQuery: isEventStream(endpoint) };
        http.on(endpoint.method, pattern, async (c) => {
          c.set("listShape", prefix === "" ? "cursor" : "numbered");
          await parts.authorize(c, endpoint.isOpen?.(parts) === true ? "open" : endpoint.scope, way);
          return endpoint.serve(parts, c);
        });
      }
      const taken = methods.map(({ method }) => method);
      http.all(pattern, (c) => refuseMethod(c, taken));
    }
  }
  return patterns;
}

function isEventStream({ answer }: Endpoint): boolean {
  return "mediaType" in answer && answer.mediaType === "text/event-stream";
}

/** Paths of files have slashes, sent as they are or as `%2F`; nothing else has. */
function toPattern(path: string): string {
  return path.replace(/\{path\}$/, ":path{.+}").replaceAll(/\/\{(\w+)\}/g, "/:$1");
}

function refuseMethod(c: Context<HttpEnv>, methods: readonly string[]): Response {
  const allowed = [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");
  c.header("allow", allowed);
  if (c.req.method === "OPTIONS") return c.body(null, 204);
  throw new PawlError("METHOD_NOT_ALLOWED", { message: `This path takes ${allowed}.` });
}
