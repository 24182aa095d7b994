import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import type { Reach } from "../core/trust/grant.ts";

/** Requests to addresses that users, models or other programs name: guarded, so that none leads to where it should not. */
export interface Outbound {
  /** Never rejects: what can go wrong is an answer. */
  request(asked: OutboundRequest, signal: AbortSignal): Promise<OutboundResult>;
  /** Resolves with the head of the answer; rejects with `HTTP_NOT_ALLOWED`. Redirects are not followed. Destroying the body ends the request's socket. */
  open(asked: OutboundOpening, signal: AbortSignal): Promise<OutboundAnswer>;
}

export interface OutboundOpening {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Absent: the public addresses, and those of `outbound.allow`. */
  readonly reach?: Reach | undefined;
  /** The connection stands (with TLS): from here on the server may act. */
  onConnected?(): void;
}

export interface OutboundAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
}

export interface OutboundRequest {
  readonly url: string;
  readonly method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** For the whole request, redirects included. */
  readonly timeoutMs: number;
  /** The size of the unpacked body. */
  readonly maxBytes: number;
  readonly reach?: Reach | undefined;
  /** Followed for `GET` and `HEAD` only, each to an address that is checked like the first. */
  readonly maxRedirects: number;
  /** The status is what counts: a body that stops coming, or cannot be unpacked, is taken as far as it came. */
  readonly needsNoBody?: boolean;
}

export type OutboundResult =
  | {
      readonly ok: true;
      readonly status: number;
      /** The address of the answer, after redirects. */
      readonly url: string;
      readonly headers: IncomingHttpHeaders;
      readonly body: Buffer;
      /** There was more than `maxBytes`. */
      readonly isCut: boolean;
    }
  /** `refused`: nothing was sent to where it may not be sent. */
  | {
      readonly ok: false;
      readonly reason: "refused" | "unreachable" | "timedOut" | "aborted";
      readonly message: string;
      /** A request may have arrived: some connection stood. */
      readonly wasSent: boolean;
    };
