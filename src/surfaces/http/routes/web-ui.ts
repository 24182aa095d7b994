import { readdir, readFile } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Context, Hono } from "hono";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { HttpEnv, HttpParts } from "../http-parts.ts";
import { answerApplication } from "./application.ts";

/** What Vite has built; from here and from the built file it is the same way up. */
const BUILT = new URL("../../../../dist/web/", import.meta.url);

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Nothing from elsewhere, and no script but ours. Editors and terminals make styles while they work. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

interface Asset {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly packed: Uint8Array<ArrayBuffer>;
  readonly type: string;
}

/**
 * Serves the pages below `/ui/`, and leads a browser there from `/` where the application has no route of its own. The files are public:
 * what they show comes from the API, with a key where one is needed.
 */
export function mountWebUi(http: Hono<HttpEnv>, parts: HttpParts): void {
  const kept = new Map<string, Promise<Asset>>();
  let names: Promise<ReadonlySet<string>> | undefined;
  http.get("/", async (c) => {
    const { routes } = await parts.triggers();
    const isOurs = routes.match("GET", "/").is !== "route" && (c.req.header("accept") ?? "").includes("text/html");
    return isOurs ? c.redirect("/ui/") : answerApplication(parts, c);
  });
  http.get("/ui", (c) => c.redirect("/ui/"));
  http.get("/ui/*", async (c) => {
    await parts.authorize(c, "anybody");
    // Pages that are built while the server runs are found by the next request.
    names ??= readNames().catch((error: unknown) => {
      names = undefined;
      throw error;
    });
    const name = c.req.path.slice("/ui/".length);
    // Addresses of views are the page's own affair. A path is looked up and never made of what a request says.
    const file = (await names).has(name) ? name : "index.html";
    if (file === "index.html" && name.startsWith("assets/")) return notThere();
    const asset = kept.get(file) ?? readAsset(file);
    kept.set(file, asset);
    return answerAsset(c, await asset, file);
  });
}

function notThere(): never {
  throw new PawlError("PATH_NOT_FOUND", { message: "This page is of another version.", remedy: "Load it again." });
}

function answerAsset(c: Context<HttpEnv>, { body, packed, type }: Asset, name: string): Response {
  const takesPacked = /\bgzip\b/.test(c.req.header("accept-encoding") ?? "");
  return new Response(takesPacked ? packed : body, {
    headers: {
      "content-type": type,
      "content-security-policy": POLICY,
      // The name of an asset says what is in it.
      "cache-control": name.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache",
      vary: "accept-encoding",
      ...(takesPacked ? { "content-encoding": "gzip" } : {}),
    },
  });
}

/** Throws `PATH_NOT_FOUND` where the pages are not built: `npm run build`. */
async function readNames(): Promise<ReadonlySet<string>> {
  try {
    const entries = await readdir(BUILT, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile() && extname(entry.name) in TYPES);
    const base = fileURLToPath(BUILT);
    return new Set(files.map(({ parentPath, name }) => relative(base, join(parentPath, name)).replaceAll(sep, "/")));
  } catch (error) {
    throw new PawlError("PATH_NOT_FOUND", {
      message: "The pages are not built.",
      remedy: "Build them: npm run build.",
      cause: error,
    });
  }
}

async function readAsset(name: string): Promise<Asset> {
  const body = new Uint8Array(await readFile(new URL(name, BUILT)));
  const packed = new Uint8Array(await promisify(gzip)(body));
  return { body, packed, type: TYPES[extname(name)] ?? "application/octet-stream" };
}
