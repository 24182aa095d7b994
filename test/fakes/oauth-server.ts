import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, Server } from "@modelcontextprotocol/server";
import { onTestFinished } from "vitest";

interface Options {
  /** Requests that a token is good for. */
  readonly uses?: number;
  /** Milliseconds that a token is good for. */
  readonly lifetimeMs?: number;
  /** Called in the middle of each call of a tool. */
  onCall?(key: string): Promise<void> | void;
  /** Called before a token is renewed. */
  onRenew?(): Promise<void> | void;
}

interface Token {
  readonly family: string;
  left: number;
  readonly endsAt: number;
}

/** An MCP server on loopback behind its own OAuth 2.1: tokens end, those that renew are good for one use, and a second use ends the login. */
export async function startOAuthServer(options: Options = {}) {
  const { uses = Number.POSITIVE_INFINITY, lifetimeMs = Number.POSITIVE_INFINITY } = options;
  const clients = new Map<string, string>();
  const codes = new Map<string, { readonly challenge: string; readonly redirect: string; readonly resource: string }>();
  const access = new Map<string, Token>();
  const refresh = new Map<string, { readonly family: string; isUsed: boolean }>();
  const revoked = new Set<string>();
  const done = new Set<string>();
  let named: object = {};
  const seen = {
    /** Keys of calls, in their order, without those that were sent again. */
    calls: [] as string[],
    repeated: 0,
    /** All that was ever given, and is nobody else's. */
    secrets: [] as string[],
    renewed: 0,
    reused: 0,
    refused: 0,
    asked: [] as string[],
  };

  const give = (family: string) => {
    const [token, renews] = [`at-${randomUUID()}`, `rt-${randomUUID()}`];
    access.set(token, { family, left: uses, endsAt: Date.now() + lifetimeMs });
    refresh.set(renews, { family, isUsed: false });
    seen.secrets.push(token, renews);
    return { access_token: token, refresh_token: renews, token_type: "Bearer", expires_in: 20, scope: "tools" };
  };

  const answerToken = async (query: URLSearchParams) => {
    if (query.get("resource") !== `${url()}/mcp`) return { error: "invalid_target" };
    if (query.get("grant_type") === "authorization_code") {
      const code = query.get("code") ?? "";
      const found = codes.get(code);
      codes.delete(code);
      const challenge = createHash("sha256")
        .update(query.get("code_verifier") ?? "")
        .digest("base64url");
      const isRight = found?.challenge === challenge && found.redirect === query.get("redirect_uri");
      return isRight && found.resource === query.get("resource") ? give(randomUUID()) : { error: "invalid_grant" };
    }
    const renews = refresh.get(query.get("refresh_token") ?? "");
    if (renews === undefined || revoked.has(renews.family)) return { error: "invalid_grant" };
    if (renews.isUsed) {
      seen.reused += 1;
      revoked.add(renews.family);
      return { error: "invalid_grant" };
    }
    await options.onRenew?.();
    renews.isUsed = true;
    seen.renewed += 1;
    return give(renews.family);
  };

  const createTools = () => {
    const server = new Server({ name: "oauth", version: "1.0.0" }, { capabilities: { tools: {} } });
    const inputSchema = { type: "object" as const, properties: { key: { type: "string" } }, required: ["key"] };
    server.setRequestHandler("tools/list", () => ({ tools: ["count", "tell"].map((name) => ({ name, inputSchema })) }));
    server.setRequestHandler("tools/call", async ({ params }, context) => {
      const key = String(params.arguments?.["key"]);
      // A server that tells whoever asks what it was sent.
      const sent = context.http?.req?.headers.get("authorization") ?? "nothing";
      if (params.name === "tell") return { content: [{ type: "text", text: `${sent} in ${key}` }] };
      const sentAs = String(params._meta?.["pawl/idempotency-key"] ?? randomUUID());
      if (done.has(sentAs)) seen.repeated += 1;
      else seen.calls.push(key);
      done.add(sentAs);
      await options.onCall?.(key);
      return { content: [{ type: "text", text: JSON.stringify({ key, calls: seen.calls.length }) }] };
    });
    return server;
  };
  const handle = toNodeHandler(createMcpHandler(createTools));

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(request.url ?? "/", url());
    seen.asked.push(pathname);
    const send = (body: object, status = 200) =>
      void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (pathname === "/.well-known/oauth-protected-resource/mcp")
      return send({ resource: `${url()}/mcp`, authorization_servers: [url()], scopes_supported: ["tools"], ...named });
    if (pathname === "/.well-known/oauth-authorization-server")
      return send({
        issuer: url(),
        authorization_endpoint: `${url()}/authorize`,
        token_endpoint: `${url()}/token`,
        registration_endpoint: `${url()}/register`,
        response_types_supported: ["code"],
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["none"],
        authorization_response_iss_parameter_supported: true,
        ...named,
      });
    if (pathname === "/register") {
      const asked = JSON.parse(await text(request)) as { redirect_uris: [string] };
      const client = randomUUID();
      clients.set(client, asked.redirect_uris[0]);
      return send({ ...asked, client_id: client, token_endpoint_auth_method: "none" }, 201);
    }
    if (pathname === "/authorize") {
      const redirect = searchParams.get("redirect_uri") ?? "";
      if (clients.get(searchParams.get("client_id") ?? "") !== redirect) return send({ error: "invalid_client" }, 400);
      const code = randomUUID();
      seen.secrets.push(code);
      codes.set(code, {
        challenge: searchParams.get("code_challenge") ?? "",
        redirect,
        resource: searchParams.get("resource") ?? "",
      });
      const back = new URL(redirect);
      back.search = new URLSearchParams({ code, state: searchParams.get("state") ?? "", iss: url() }).toString();
      return void response.writeHead(302, { location: back.href }).end();
    }
    if (pathname === "/token") {
      const given = await answerToken(new URLSearchParams(await text(request)));
      return send(given, "error" in given ? 400 : 200);
    }
    const bearer = request.headers.authorization?.replace("Bearer ", "") ?? "";
    const token = access.get(bearer);
    if (token === undefined || revoked.has(token.family) || token.left <= 0 || Date.now() >= token.endsAt) {
      seen.refused += 1;
      const challenge = `Bearer resource_metadata="${url()}/.well-known/oauth-protected-resource/mcp"`;
      return void response.writeHead(401, { "www-authenticate": challenge }).end();
    }
    token.left -= 1;
    const { method = "GET", url: path = "/", headers } = request;
    await handle(Object.assign(request, { method, url: path, headers }), response);
  };
  const http = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  const url = () => `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  return {
    url: `${url()}/mcp`,
    issuer: url(),
    seen,
    /** What its metadata say in place of what is true. */
    name: (metadata: object) => {
      named = metadata;
    },
    /** Ends every login. */
    revoke: () => {
      for (const { family } of access.values()) revoked.add(family);
    },
  };
}
