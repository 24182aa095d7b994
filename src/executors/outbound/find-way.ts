import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Reach } from "../../core/trust/grant.ts";
import { untilAborted } from "../until-aborted.ts";
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

/** Which addresses may be asked: all that are public, and what a person has allowed by name. */
interface AddressRule {
  /** `host` as a URL has it; allowed by name, whatever it resolves to. */
  allowsHost(host: string, port: number): boolean;
  /** For an IP address, in any spelling that a resolver gives. */
  allowsAddress(address: string, port: number): boolean;
  /** For a name that is not resolved here: whether it reads like one of the public internet. */
  allowsName(name: string, port: number): boolean;
}

/** Names that only a machine or a network knows. */
const LOCAL_NAME = /(^|\.)(localhost|local|internal|intranet|lan|home|corp|private|home\.arpa)\.?$/i;

/** Below these only the web's own: mail, databases and the like are not reached from here. */
const FIRST_FREE_PORT = 1024;
const WEB_PORTS: readonly number[] = [80, 443];

/**
 * `allow`: for local development, entries like `localhost`, `localhost:3000`, `10.1.0.0/16`, `[::1]:8080`. What is not
 * there must be a public address: no loopback, private, link-local, shared, reserved or translated one, and no IPv4
 * address of these in the clothes of an IPv6 one.
 */
export function createAddressRule(allow: readonly string[]): AddressRule {
  const entries = allow.map(toEntry);
  return {
    allowsHost: (host, port) => entries.some((entry) => entry.host === toHost(host) && fits(entry, port)),
    allowsAddress(address, port) {
      if (!ipaddr.isValid(address)) return false;
      const parsed = ipaddr.process(address);
      if (entries.some((entry) => entry.range !== undefined && fits(entry, port) && isIn(parsed, entry.range)))
        return true;
      return isPublic(parsed) && isAsked(port);
    },
    allowsName: (name, port) => /\.[^.]/.test(name) && !LOCAL_NAME.test(name) && isAsked(port),
  };
}

function isAsked(port: number): boolean {
  return WEB_PORTS.includes(port) || port >= FIRST_FREE_PORT;
}

/** For IPv6 only what is given out for the world: beside it lie old spellings of IPv4, which some systems still take. */
function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return address.range() === "unicast" && (address.kind() === "ipv4" || isIn(address, GLOBAL_IPV6));
}

const GLOBAL_IPV6: Range = ipaddr.parseCIDR("2000::/3");

type Range = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

interface Entry {
  readonly host: string;
  readonly port: number | undefined;
  /** The range of an entry that is an address or a network. */
  readonly range: Range | undefined;
}

function toEntry(written: string): Entry {
  const [, bracketed, plain = "", port] = /^(?:\[([^\]]*)\]|([^:]*|.*:.*:.*?))(?::(\d+))?$/.exec(written.trim()) ?? [];
  const host = toHost(bracketed ?? plain);
  return { host, port: port === undefined ? undefined : Number(port), range: toRange(host) };
}

function toRange(host: string): Range | undefined {
  if (ipaddr.isValidCIDR(host)) return ipaddr.parseCIDR(host);
  if (!ipaddr.isValid(host)) return undefined;
  const address = ipaddr.process(host);
  return [address, address.kind() === "ipv4" ? 32 : 128];
}

function isIn(address: ipaddr.IPv4 | ipaddr.IPv6, [base, bits]: Range): boolean {
  return address.kind() === base.kind() && address.match(base, bits);
}

function fits({ port }: Entry, asked: number): boolean {
  return port === undefined || port === asked;
}

/** The spelling of URLs: without brackets, without the dot of a full name. */
function toHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "");
}
