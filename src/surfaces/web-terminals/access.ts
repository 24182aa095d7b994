import { createHash, timingSafeEqual } from "node:crypto";

export interface AccessOptions {
  /** The token that every address must carry. */
  readonly token: string;
  /** Names by which this server may be called, as they stand in URLs. */
  readonly hostnames: ReadonlySet<string>;
}

export interface Visit {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly token: string | null;
}

/** Undefined: come in. */
export type Refusal = { readonly status: 401 | 403; readonly reason: string } | undefined;

/**
 * Decides who may look. A page elsewhere can neither be pointed at this server by a name of its own (`Host`) nor send
 * requests or open sockets from another place (`Origin`), and without the token nobody sees anything.
 */
export class Access {
  readonly #hostnames: ReadonlySet<string>;
  readonly #token: Buffer;

  constructor({ token, hostnames }: AccessOptions) {
    this.#hostnames = hostnames;
    this.#token = digest(token);
  }

  /** For what is the same for everybody. */
  judgePlace({ host, origin }: Omit<Visit, "token">): Refusal {
    if (host === undefined || !this.#hostnames.has(hostnameOf(host))) {
      return { status: 403, reason: "The host that the request names is not this one." };
    }
    if (origin !== undefined && origin !== `http://${host}`) {
      return { status: 403, reason: "Pages of other places may not send requests here." };
    }
    return undefined;
  }

  judge(visit: Visit): Refusal {
    const refusal = this.judgePlace(visit);
    if (refusal !== undefined) return refusal;
    // Hashes have equal lengths, so that the duration of the comparison tells nothing.
    if (visit.token !== null && timingSafeEqual(digest(visit.token), this.#token)) return undefined;
    return { status: 401, reason: "This needs the address with its token: `pawl terminals ls` shows it." };
  }
}

function hostnameOf(host: string): string {
  const url = `http://${host}`;
  return URL.canParse(url) ? new URL(url).hostname : "";
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
