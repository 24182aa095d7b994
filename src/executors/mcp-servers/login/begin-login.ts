import { randomBytes } from "node:crypto";
import {
  auth,
  computeScopeUnion,
  extractWWWAuthenticateParams,
  fetchToken,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  validateAuthorizationResponseIssuer,
} from "@modelcontextprotocol/client";
import { isPawlError, PawlError } from "../../../core/errors/pawl-error.ts";
import type { Outbound } from "../../../ports/outbound.ts";
import { toShownText } from "../../output/shown-text.ts";
import type { ServerAddress } from "../resolve-server.ts";
import { createLoginFetch } from "./login-fetch.ts";
import { type LoginVault, SealedLogin } from "./sealed-login.ts";
import { reasonOf } from "./server-login.ts";

export interface BegunLogin {
  /** Where a person says yes. */
  readonly address: URL;
  /** Whether an answer is one to this. */
  isAnswered(query: URLSearchParams): boolean;
  /** Takes the query that the person was sent back with, and keeps the login. Returns what it may do, as far as the issuer says. */
  finish(query: URLSearchParams): Promise<string>;
}

interface LoginOptions {
  /** Where the person is sent back to. */
  readonly redirectUrl: string;
  readonly outbound: Outbound;
  readonly vault: LoginVault;
}

/** Finds the issuer of a server's tokens, and who we are to it. Throws `MCP_LOGIN_FAILED`. */
export async function beginLogin(server: ServerAddress, options: LoginOptions): Promise<BegunLogin> {
  const { way, name } = server;
  if (way.kind === "process") throw loginFailed(name, "it is a program of this machine, which has no login");
  const { oauth, url } = way;
  const login = new SealedLogin(options.vault, { ...server, url });
  const fetchFn = createLoginFetch(way, options.outbound);
  const pending = new Pending(options.redirectUrl, oauth);
  return explain(name, async () => {
    // It says what it wants, and where that is described.
    const ping = { method: "POST", body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' };
    const headers = {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      ...way.headers,
    };
    const refused = await fetchFn(url, { ...ping, headers });
    const { scope: wanted, resourceMetadataUrl } = refused.status === 401 ? extractWWWAuthenticateParams(refused) : {};
    const scope = computeScopeUnion(oauth?.scope ?? wanted, (await login.read())?.login.scope);
    const found = { ...(resourceMetadataUrl && { resourceMetadataUrl }), ...(scope && { scope }) };
    await auth(pending, { serverUrl: url, fetchFn, ...found });
    const { address, found: discovery } = pending;
    if (address === undefined || discovery === undefined) throw new Error("it names no address to log in at");
    if (!["https:", "http:"].includes(address.protocol)) throw new Error("the address to log in at is none of the web");
    const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = discovery;
    return {
      address,
      isAnswered: (query) => query.get("state") === pending.stateText,
      finish: (query) =>
        explain(name, async () => {
          const iss = query.get("iss") ?? undefined;
          // Before anything else of the answer counts: it may be another issuer's.
          const issParameterSupported = metadata?.authorization_response_iss_parameter_supported === true;
          validateAuthorizationResponseIssuer({ iss, expectedIssuer: metadata?.issuer, issParameterSupported });
          const authorizationCode = query.get("code");
          const error = /^[a-z_]{1,60}$/.exec(query.get("error") ?? "")?.[0];
          if (authorizationCode === null) throw new Error(error ?? "no code came back");
          const tokens = await fetchToken(pending, authorizationServerUrl, {
            authorizationCode,
            fetchFn,
            ...(iss === undefined ? {} : { iss }),
            ...(metadata === undefined ? {} : { metadata }),
            ...(resourceMetadata === undefined ? {} : { resource: resourceMetadata.resource }),
          });
          const client = pending.clientInformation();
          if (client === undefined) throw new Error("it has registered no client");
          const asked = address.searchParams.get("scope") ?? undefined;
          const issuer = metadata?.issuer ?? authorizationServerUrl;
          await login.save({ discovery, client, tokens: { ...tokens, issuer }, scope: asked });
          return toShownText(tokens.scope ?? asked ?? "");
        }),
    };
  });
}

/** One login, from the first question to its token. */
class Pending implements OAuthClientProvider {
  readonly redirectUrl: string;
  readonly stateText = randomBytes(32).toString("base64url");
  address: URL | undefined;
  found: OAuthDiscoveryState | undefined;
  /** Absent: the client is given, and good for its issuer only. */
  saveClientInformation?: (client: StoredOAuthClientInformation) => void;
  #client: StoredOAuthClientInformation | undefined;
  #verifier = "";

  constructor(redirectUrl: string, { client_id, client_secret, issuer }: NonNullable<HttpOAuth> = {}) {
    this.redirectUrl = redirectUrl;
    if (client_id !== undefined)
      this.#client = { client_id, ...(client_secret && { client_secret }), ...(issuer && { issuer }) };
    else
      this.saveClientInformation = (client) => {
        this.#client = client;
      };
  }

  get clientMetadata(): OAuthClientMetadata {
    return {
      client_name: "Pawl",
      redirect_uris: [this.redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
    };
  }

  state(): string {
    return this.stateText;
  }

  clientInformation(): StoredOAuthClientInformation | undefined {
    return this.#client;
  }

  /** None: whoever logs in wants other ones. */
  tokens(): undefined {}

  saveTokens(_: StoredOAuthTokens): void {}

  redirectToAuthorization(address: URL): void {
    this.address = address;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  saveDiscoveryState(found: OAuthDiscoveryState): void {
    this.found = found;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.found;
  }
}

type HttpOAuth = Extract<ServerAddress["way"], { readonly url: URL }>["oauth"];

async function explain<Value>(server: string, act: () => Promise<Value>): Promise<Value> {
  try {
    return await act();
  } catch (error) {
    throw isPawlError(error) ? error : loginFailed(server, reasonOf(error));
  }
}

export function loginFailed(server: string, why: string): PawlError {
  return new PawlError("MCP_LOGIN_FAILED", { message: `The login to the MCP server "${server}" has failed: ${why}.` });
}
