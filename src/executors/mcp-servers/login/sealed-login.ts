import { createHash } from "node:crypto";
import type {
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { parseExact, writeExact } from "../../../core/exact-json.ts";
import type { RunSecrets } from "../../../ports/run-secrets.ts";
import type { LoginKey, ServerLogins } from "../../../ports/service/server-logins.ts";

/** What was found out, registered and given when somebody logged in. Tokens are good for this server and from this issuer only. */
export interface Login {
  readonly discovery: OAuthDiscoveryState;
  readonly client: StoredOAuthClientInformation;
  readonly tokens: StoredOAuthTokens;
  /** What was asked for, and what the server has missed since. */
  readonly scope?: string | undefined;
}

export interface KeptLogin {
  readonly login: Login;
  readonly version: number;
}

export interface LoginVault {
  /** Undefined: nothing was kept so far. */
  logins(): Promise<ServerLogins | undefined>;
  secrets(): Promise<Pick<RunSecrets, "seal" | "open" | "learn">>;
}

export interface LoginOwner {
  readonly tenantId?: string | undefined;
  readonly name: string;
  readonly url: URL;
}

/** As many tokens as may still be on their way in answers. */
const MAX_SECRETS = 12;

/** The login to one server. Whatever it has read or written is masked from then on. */
export class SealedLogin {
  /** The tokens that are known, for who masks by itself; another list whenever there are others. */
  secrets: readonly string[] = [];
  readonly #vault: LoginVault | undefined;
  readonly #key: LoginKey;
  #unlearn: () => void = () => undefined;

  constructor(vault: LoginVault | undefined, { tenantId, name, url }: LoginOwner) {
    this.#vault = vault;
    this.#key = { tenantId, server: name, address: createHash("sha256").update(url.href).digest("hex") };
  }

  /** Throws `SECRET_UNREADABLE`. */
  async read(): Promise<KeptLogin | undefined> {
    const stored = await (await this.#vault?.logins())?.find(this.#key);
    if (stored === undefined) return undefined;
    const secrets = await this.#vault?.secrets();
    const [key, login] = parseExact(secrets?.open(stored.sealed) ?? "[]") as [string, Login];
    // A row that was put in the place of another one is no login.
    if (key !== this.#name()) return undefined;
    await this.#learn(login);
    return { login, version: stored.version };
  }

  async save(login: Login, version?: number): Promise<boolean> {
    await this.#learn(login);
    const sealed = (await this.#vault?.secrets())?.seal(writeExact([this.#name(), login]));
    const logins = await this.#vault?.logins();
    return sealed !== undefined && (await logins?.save(this.#key, sealed, version)) === true;
  }

  async claim(version: number, forMs: number): Promise<boolean> {
    return (await (await this.#vault?.logins())?.claim(this.#key, version, { now: Date.now(), forMs })) === true;
  }

  async release(version: number): Promise<void> {
    await (await this.#vault?.logins())?.release(this.#key, version);
  }

  async remove(): Promise<boolean> {
    return (await (await this.#vault?.logins())?.remove(this.#key)) === true;
  }

  async #learn({ tokens, client }: Login): Promise<void> {
    const values = [tokens.access_token, tokens.refresh_token, tokens.id_token, client.client_secret];
    await this.learn(values.filter((value) => value !== undefined));
  }

  /** From now on these are masked. */
  async learn(values: readonly string[]): Promise<void> {
    if (values.every((value) => this.secrets.includes(value))) return;
    this.secrets = [...new Set([...values, ...this.secrets])].slice(0, MAX_SECRETS);
    const unlearn = this.#unlearn;
    this.#unlearn = (await this.#vault?.secrets())?.learn(this.secrets) ?? unlearn;
    unlearn();
  }

  #name(): string {
    const { tenantId = "", server, address } = this.#key;
    return writeExact([tenantId, server, address]);
  }
}
