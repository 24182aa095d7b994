import ipaddr from "ipaddr.js";

/** Which addresses may be asked: all that are public, and what a person has allowed by name. */
export interface AddressRule {
  /** `host` as a URL has it; allowed by name, whatever it resolves to. */
  allowsHost(host: string, port: number): boolean;
  /** For an IP address, in any spelling that a resolver gives. */
  allowsAddress(address: string, port: number): boolean;
  /** For a name that nobody here resolves: whether it reads like one of the public internet. */
  allowsName(name: string, port: number): boolean;
}

/** Names that only a machine or a network knows. */
const LOCAL_NAME = /(^|\.)(localhost|local|internal|intranet|lan|home|corp|private|home\.arpa)\.?$/i;

/** Below these only the web's own: mail, databases and the like are nobody's business here. */
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
