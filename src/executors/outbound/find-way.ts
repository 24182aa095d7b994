import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Reach } from "../../core/trust/grant.ts";
import { untilAborted } from "../until-aborted.ts";
import { type AddressRule, createAddressRule } from "./address-rule.ts";
import { findProxy, portOf } from "./proxy.ts";

export interface OutboundOptions {
  /** Hosts, addresses and networks that are asked though they are not public; for local development. */
  readonly allow: readonly string[];
  /** Every address of a name. */
  resolve?(host: string): Promise<readonly LookupAddress[]>;
  /** Its proxy variables count. Default: none. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** The operator's proxy, or the addresses that were checked, of which there is at least one. */
type Way = { readonly proxy: URL } | { readonly proxy: undefined; readonly addresses: Addresses };

type Addresses = readonly [LookupAddress, ...LookupAddress[]];

/** The way to a URL. Rejects with `HTTP_NOT_ALLOWED` if it may not be asked, and as the resolver does. */
export type FindWay = (url: URL, signal: AbortSignal) => Promise<Way>;

/**
 * The one rule of what may be asked, for requests of Pawl and for those of sandboxed programs. A name is resolved once and all its
 * addresses are checked. A proxy resolves names itself: behind one only the text of a name can be checked.
 */
export function createFindWay(options: OutboundOptions, reach: Reach = []): FindWay {
  const { allow, environment = {} } = options;
  const resolve = options.resolve ?? ((host: string) => lookup(host, { all: true, verbatim: true }));
  const rule = reach === "anywhere" ? ANYWHERE : createAddressRule([...allow, ...reach]);
  return async (url, signal) => {
    // The URL parser has made one spelling of all: `http://2130706433/` is 127.0.0.1 here.
    const host = url.hostname.replace(/^\[|\]$/g, "");
    const port = Number(portOf(url));
    const family = isIP(host);
    const proxy = findProxy(url, environment);
    const isNameAllowed = rule.allowsHost(host, port);
    if (proxy !== undefined) {
      const isAllowed = family === 0 ? rule.allowsName(host, port) : rule.allowsAddress(host, port);
      if (!isNameAllowed && !isAllowed) throw notPublic(url);
      return { proxy };
    }
    const [first, ...others] = family === 0 ? await untilAborted(resolve(host), signal) : [{ address: host, family }];
    if (first === undefined) throw new Error(`${host} has no address.`);
    const addresses = [first, ...others] as const;
    const isPublic = addresses.every(({ address }) => rule.allowsAddress(address, port));
    if (!isNameAllowed && !isPublic) throw notPublic(url);
    return { proxy, addresses };
  };
}

/** The connection goes where the check has looked. */
export function pinned(addresses: Addresses): LookupFunction {
  const [{ address, family }] = addresses;
  return (_host, { all }, done) => (all === true ? done(null, [...addresses]) : done(null, address, family));
}

/** For an address that the operator wrote. */
const ANYWHERE: AddressRule = { allowsHost: () => true, allowsAddress: () => true, allowsName: () => true };

function notPublic({ host }: URL): PawlError {
  const message = `${host} is not a public address, or not a port that is asked.`;
  return new PawlError("HTTP_NOT_ALLOWED", { message });
}
