import { setTimeout as sleep } from "node:timers/promises";
import {
  ClientCredentialsProvider,
  computeScopeUnion,
  discoverOAuthServerInfo,
  extractWWWAuthenticateParams,
  type FetchLike,
  fetchToken,
  OAuthError,
  PrivateKeyJwtProvider,
  refreshAuthorization,
  selectResourceURL,
} from "@modelcontextprotocol/client";
import type { Outbound } from "../../../ports/outbound.ts";
import { createRedactor } from "../../output/redact.ts";
import { showStart } from "../../output/shown-text.ts";
import { McpFailure, refusal } from "../mcp-failure.ts";
import type { HttpWay, ServerAddress } from "../resolve-server.ts";
import { createLoginFetch } from "./login-fetch.ts";
import { type KeptLogin, type LoginVault, SealedLogin } from "./sealed-login.ts";

interface LoginParts {
  readonly outbound: Outbound;
  /** Absent: nobody can log in. */
  readonly vault?: LoginVault | undefined;
}

type Challenge = ReturnType<typeof extractWWWAuthenticateParams>;

/** Longer than a request for a token may take. A process that dies with it holds the others up for no longer. */
const CLAIM_MS = 15_000;
const LOOK_AGAIN_MS = 50;
/** A new token may have ended before a request with it comes; a server that refuses so many takes none. */
const MAX_RENEWALS = 3;
/** The issuer says that only a person can help. */
const OVER: readonly string[] = ["invalid_grant", "invalid_client", "unauthorized_client"];

/** Bears the login of a server. A request that the server has refused with 401 was not looked at: it is sent once more, with a newer token. */
export class ServerLogin {
  readonly #address: ServerAddress;
  readonly #way: HttpWay;
  readonly #login: SealedLogin;
  readonly #ask: FetchLike;
  #token: string | undefined;
  #isKnown = false;
  #renewing: Promise<string> | undefined;

  constructor(address: ServerAddress, way: HttpWay, { vault, outbound }: LoginParts) {
    this.#address = address;
    this.#way = way;
    this.#login = new SealedLogin(vault, { ...address, url: way.url });
    this.#ask = createLoginFetch(way, outbound);
  }

  get secrets(): readonly string[] {
    return this.#login.secrets;
  }

  /** Throws an `McpFailure`: `MCP_LOGIN_NEEDED` where only a person can help. */
  fetch(ask: FetchLike): FetchLike {
    return async (url, init) => {
      if (!this.#isKnown) this.#token = (await this.#login.read())?.login.tokens.access_token;
      this.#isKnown = true;
      let token = this.#token;
      for (let renewals = 0; ; renewals += 1) {
        const response = await ask(url, withToken(init, token));
        const { status } = response;
        const challenge = status === 401 || status === 403 ? extractWWWAuthenticateParams(response) : {};
        const lacksScope = status === 403 && challenge.error === "insufficient_scope";
        if (status !== 401 && !lacksScope) return response;
        await response.body?.cancel();
        if (lacksScope) await this.#noteScope(challenge.scope);
        if (lacksScope) throw this.#needed("wants a login that may do more");
        if (renewals === MAX_RENEWALS) throw this.#needed("refuses its login");
        token = await this.#renew(token, challenge);
      }
    };
  }

  /** All who meet a refused token wait for the same new one. */
  async #renew(refused: string | undefined, challenge: Challenge): Promise<string> {
    if (this.#token !== undefined && this.#token !== refused) return this.#token;
    this.#renewing ??= this.#renewOnce(refused, challenge).finally(() => {
      this.#renewing = undefined;
    });
    this.#token = await this.#renewing;
    return this.#token;
  }

  async #renewOnce(refused: string | undefined, challenge: Challenge): Promise<string> {
    if (this.#way.oauth?.grant === "client_credentials") return this.#fetchOwn(challenge);
    for (const end = performance.now() + 2 * CLAIM_MS; performance.now() < end; await sleep(LOOK_AGAIN_MS)) {
      const kept = await this.#login.read();
      if (kept === undefined) throw this.#needed("wants a login");
      const { access_token: token, refresh_token: renews } = kept.login.tokens;
      // Another process has renewed it, or somebody has logged in.
      if (token !== refused) return token;
      if (renews === undefined) throw this.#needed("wants a new login");
      if (await this.#login.claim(kept.version, CLAIM_MS)) return await this.#refresh(kept, renews);
    }
    throw this.#notRenewed("another process does not come to an end with it");
  }

  /** Holds the claim. */
  async #refresh({ login, version }: KeptLogin, refreshToken: string): Promise<string> {
    const { discovery, client: clientInformation, tokens } = login;
    const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = discovery;
    const resource = resourceMetadata?.resource;
    try {
      const parts = { clientInformation, refreshToken, fetchFn: this.#ask };
      const renewed = await refreshAuthorization(authorizationServerUrl, {
        ...parts,
        ...(metadata === undefined ? {} : { metadata }),
        ...(resource === undefined ? {} : { resource }),
      });
      await this.#login.save({ ...login, tokens: { ...tokens, ...renewed } }, version);
      return renewed.access_token;
    } catch (error) {
      if (!(error instanceof OAuthError) || !OVER.includes(error.code)) {
        await this.#login.release(version);
        throw this.#notRenewed(reasonOf(error));
      }
      const { refresh_token: _, ...left } = tokens;
      await this.#login.save({ ...login, tokens: left }, version);
      throw this.#needed(`wants a new login (${error.code})`);
    }
  }

  /** A client that is nobody's is given a token for its own key. */
  async #fetchOwn({ resourceMetadataUrl, scope: wanted }: Challenge): Promise<string> {
    const { url, oauth = {} } = this.#way;
    const {
      client_id: clientId = "",
      client_secret: clientSecret = "",
      private_key: privateKey,
      scope,
      issuer,
    } = oauth;
    const common = { clientId, ...(issuer === undefined ? {} : { expectedIssuer: issuer }) };
    const provider =
      privateKey === undefined
        ? new ClientCredentialsProvider({ ...common, clientSecret })
        : new PrivateKeyJwtProvider({ ...common, privateKey, algorithm: oauth.algorithm ?? "ES256" });
    try {
      const fetchFn = this.#ask;
      const found = await discoverOAuthServerInfo(url, {
        fetchFn,
        ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
      });
      const { authorizationServerMetadata: metadata, resourceMetadata } = found;
      await selectResourceURL(url, provider, resourceMetadata);
      const asked = scope ?? wanted ?? resourceMetadata?.scopes_supported?.join(" ");
      const { access_token: token } = await fetchToken(provider, found.authorizationServerUrl, {
        fetchFn,
        ...(metadata === undefined ? {} : { metadata }),
        ...(resourceMetadata === undefined ? {} : { resource: resourceMetadata.resource }),
        ...(asked === undefined ? {} : { scope: asked }),
      });
      await this.#login.learn([token]);
      return token;
    } catch (error) {
      if (error instanceof OAuthError && OVER.includes(error.code))
        throw refusal(
          "MCP_UNAUTHORIZED",
          `The MCP server ${this.#shown()}: its issuer refused the client (${error.code}).`,
        );
      throw this.#notRenewed(reasonOf(error));
    }
  }

  async #noteScope(scope: string | undefined): Promise<void> {
    const kept = await this.#login.read();
    if (kept === undefined) return;
    const { login, version } = kept;
    await this.#login.save({ ...login, scope: computeScopeUnion(login.scope, scope) }, version);
  }

  #needed(what: string): McpFailure {
    // Somebody may log in before the next request.
    this.#isKnown = false;
    const { name, tenantId, origin } = this.#address;
    const whose = tenantId === undefined ? "" : ` --tenant ${tenantId}`;
    // Its name says nothing outside of its definition.
    const of = origin === "the definition" ? `${whose} --for-url ${this.#way.url.href}` : whose;
    const message = `The MCP server ${this.#shown()} ${what}: \`pawl mcp login ${name}${of}\`.`;
    return refusal("MCP_LOGIN_NEEDED", createRedactor(this.#address.secrets).text(message));
  }

  #notRenewed(why: string): McpFailure {
    const message = `The login to the MCP server ${this.#shown()} cannot be renewed: ${why}.`;
    return new McpFailure("MCP_UNREACHABLE", { message, retryable: true, effect: "none" });
  }

  #shown(): string {
    return `"${this.#address.name}" (${this.#way.url.origin})`;
  }
}

function withToken(init: RequestInit | undefined, token: string | undefined): RequestInit {
  const headers = new Headers(init?.headers);
  if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
  return { ...init, headers };
}

/** What an issuer writes may hold anything, also what it was sent: its code is all that is told. */
export function reasonOf(error: unknown): string {
  if (error instanceof OAuthError) return `the issuer answered ${/^[a-z_]{1,60}$/.exec(error.code)?.[0] ?? "an error"}`;
  return showStart(error instanceof Error ? error.message.replace(/\.$/, "") : String(error), createRedactor([]));
}
