import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { isPawlError } from "../../core/errors/pawl-error.ts";
import { decodeSegment } from "../../operations/triggers/path-pattern.ts";
import type { LiveTerminals } from "../../ports/terminals/terminal-views.ts";
import { Access, type AccessOptions } from "./access.ts";
import { Viewers } from "./viewer.ts";

export interface TerminalPagesOptions extends AccessOptions {
  readonly views: LiveTerminals;
  /** Whether whoever may look may also type, and end programs. */
  readonly canType: boolean;
}

/** Ids as this program makes them; nothing else is looked up. */
const ID = "[A-Za-z0-9_-]{1,64}";
const SESSION = new RegExp(`^/terminals/(${ID})$`);
const STREAM = new RegExp(`^/terminals/(${ID})/pty$`);
const ASSET = /^\/terminals\/assets\/([a-z.]{1,32})$/;

/** Live terminals in a browser: a page that lists them, a page for each, and a WebSocket with what each shows. */
export class TerminalPages {
  readonly #options: TerminalPagesOptions;
  readonly #access: Access;
  readonly #viewers: Viewers;

  constructor(options: TerminalPagesOptions) {
    this.#options = options;
    this.#access = new Access(options);
    this.#viewers = new Viewers(options);
  }

  /** Answers a request. Never rejects. */
  async fetch(request: Request): Promise<Response> {
    const nonce = randomBytes(16).toString("base64");
    const response = await this.#answer(request, nonce).catch(() => toText(500, "Something is wrong here."));
    for (const [name, value] of Object.entries(securityHeaders(nonce))) response.headers.set(name, value);
    return response;
  }

  /** Takes a connection that wants to be a WebSocket. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on("error", () => undefined);
    const url = toUrl(request.url);
    const { host, origin } = request.headers;
    const token = tokenOfSocket(request) ?? url?.searchParams.get("token") ?? null;
    const refusal = this.#access.judge({ host, origin, token });
    const [, id] = STREAM.exec(url?.pathname ?? "") ?? [];
    if (refusal !== undefined) refuse(socket, refusal.status);
    else if (id === undefined) refuse(socket, 404);
    else if (this.#viewers.isFull) refuse(socket, 503);
    else this.#viewers.add(request, { socket, head, sessionId: id });
  }

  /** The last viewer has gone. */
  close(): void {
    this.#viewers.close();
  }

  async #answer(request: Request, nonce: string): Promise<Response> {
    const url = new URL(request.url);
    const visit = {
      host: request.headers.get("host") ?? undefined,
      origin: request.headers.get("origin") ?? undefined,
      token: tokenOf(request.headers.get("authorization")) ?? url.searchParams.get("token"),
    };
    const [, asset] = ASSET.exec(url.pathname) ?? [];
    // Files of the package are public, so their addresses need no token.
    const refusal = asset === undefined ? this.#access.judge(visit) : this.#access.judgePlace(visit);
    const isReading = request.method === "GET" || request.method === "HEAD";
    const isList = url.pathname === "/terminals";
    const [, id] = SESSION.exec(url.pathname) ?? [];
    if (refusal?.status === 401 && isReading && wantsPage(request) && (isList || id !== undefined))
      return toHtml(await readPage(isList ? "list" : "session", nonce), 401);
    if (refusal !== undefined) return toText(refusal.status, refusal.reason);
    if (asset !== undefined && isReading) return this.#serveAsset(asset);
    if (isList && isReading) return this.#list(request, nonce);
    if (id !== undefined && isReading) return this.#show(id, nonce);
    if (id !== undefined && request.method === "DELETE") return this.#kill(id);
    if (asset === undefined && !isList && id === undefined) return toText(404, "There is nothing here.");
    return toText(405, "This cannot be done here.");
  }

  async #serveAsset(name: string): Promise<Response> {
    const asset = await readAsset(name);
    if (asset === undefined) return toText(404, "There is nothing here.");
    return new Response(new Uint8Array(asset.body), {
      headers: { "content-type": asset.type, "cache-control": "no-cache" },
    });
  }

  async #list(request: Request, nonce: string): Promise<Response> {
    const { views, canType } = this.#options;
    if (wantsPage(request)) return toHtml(await readPage("list", nonce));
    const items = (await views.list()).map(({ web_url: _withToken, ...rest }) => rest);
    return Response.json({ data: { items, can_type: canType }, error: null });
  }

  async #show(id: string, nonce: string): Promise<Response> {
    const isKnown = (await this.#options.views.list()).some(({ session_id }) => session_id === id);
    return isKnown ? toHtml(await readPage("session", nonce)) : toText(404, "There is no such terminal (any more).");
  }

  async #kill(id: string): Promise<Response> {
    const { views, canType } = this.#options;
    if (!canType) return toText(403, "Only looking is allowed here: `terminal.web_input` is not set.");
    try {
      await views.kill(id);
      return new Response(null, { status: 204 });
    } catch (error) {
      if (isPawlError(error) && error.code === "TERMINAL_NOT_FOUND") return toText(404, error.message);
      throw error;
    }
  }
}

/**
 * Nothing from elsewhere, no script but ours, no frame around it, and the address with the token goes nowhere. Rows are
 * coloured by `style` attributes, which cannot bear a nonce.
 */
function securityHeaders(nonce: string): Readonly<Record<string, string>> {
  return {
    "content-security-policy": [
      "default-src 'none'",
      "script-src 'self'",
      `style-src 'self' 'nonce-${nonce}'`,
      "style-src-attr 'unsafe-inline'",
      "img-src 'self'",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join("; "),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
  };
}

function toText(status: number, text: string): Response {
  return new Response(`${text}\n`, {
    status,
    headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" },
  });
}

function toHtml(html: string, status = 200): Response {
  return new Response(html, {
    status,
    headers: { "content-type": "text/html; charset=utf-8", "cache-control": "no-store", vary: "accept" },
  });
}

/**
 * The pages themselves are the same for everybody. They take the token out of the address, keep it for their tab, and bear it in a
 * header: so one that was opened again has it, though its address has not.
 */
function wantsPage({ headers }: Request): boolean {
  return !(headers.get("accept") ?? "").includes("application/json");
}

function tokenOf(authorization: string | null): string | undefined {
  const [, written] = /^Bearer +(\S+)$/i.exec(authorization ?? "") ?? [];
  // A token may be any text, a header may not.
  return written === undefined ? undefined : (decodeSegment(written) ?? written);
}

/** Scripts choose no header of a WebSocket but the names of protocols, which not every character may stand in. */
function tokenOfSocket({ headers }: IncomingMessage): string | undefined {
  const [, token] = /(?:^|[ ,])token\.([A-Za-z0-9_-]+)/.exec(headers["sec-websocket-protocol"] ?? "") ?? [];
  return token === undefined ? undefined : Buffer.from(token, "base64url").toString();
}

function toUrl(path: string | undefined): URL | undefined {
  const url = `http://localhost${path ?? ""}`;
  return path?.startsWith("/") === true && URL.canParse(url) ? new URL(url) : undefined;
}

const REASONS = { 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 503: "Service Unavailable" } as const;

function refuse(socket: Duplex, status: keyof typeof REASONS): void {
  socket.end(`HTTP/1.1 ${status} ${REASONS[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () =>
    socket.destroy(),
  );
}

interface Asset {
  readonly url: URL;
  readonly type: string;
}

const SCRIPT = "text/javascript; charset=utf-8";
const STYLE = "text/css; charset=utf-8";
/** From here and from the built file it is the same way up. */
const PAGES = new URL("../../../web/terminals/", import.meta.url);

/** Everything that is served as it is. No path is ever made of what a request says. */
const ASSETS: Readonly<Record<string, () => Asset>> = {
  "list.js": () => ({ url: new URL("list.js", PAGES), type: SCRIPT }),
  "session.js": () => ({ url: new URL("session.js", PAGES), type: SCRIPT }),
  "token.js": () => ({ url: new URL("token.js", PAGES), type: SCRIPT }),
  "style.css": () => ({ url: new URL("style.css", PAGES), type: STYLE }),
  "icon.svg": () => ({ url: new URL("icon.svg", PAGES), type: "image/svg+xml" }),
  "xterm.js": () => ({ url: new URL(import.meta.resolve("@xterm/xterm/lib/xterm.mjs")), type: SCRIPT }),
  "xterm.css": () => ({ url: new URL(import.meta.resolve("@xterm/xterm/css/xterm.css")), type: STYLE }),
};

/** Undefined: there is none of this name. */
async function readAsset(name: string): Promise<{ readonly body: Buffer; readonly type: string } | undefined> {
  const asset = Object.hasOwn(ASSETS, name) ? ASSETS[name]?.() : undefined;
  return asset && { body: await readFile(asset.url), type: asset.type };
}

/** One of the two pages. The nonce lets its script, and nobody else, add styles. */
async function readPage(name: "list" | "session", nonce: string): Promise<string> {
  const html = await readFile(new URL(`${name}.html`, PAGES), "utf8");
  return html.replace("{{nonce}}", nonce);
}
