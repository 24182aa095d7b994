import { hostname, networkInterfaces } from "node:os";

/** Where to listen for what a person has written. */
export function toAddress(host: string): string {
  return host === "localhost" ? "127.0.0.1" : host.replace(/^\[(.*)\]$/, "$1");
}

export function isLoopback(address: string): boolean {
  return /^127(\.\d{1,3}){3}$/.test(address) || address === "::1";
}

export function isEveryAddress(address: string): boolean {
  return address === "0.0.0.0" || address === "::";
}

/** By which other machines may call this one, as it stands in URLs. */
export function namesOf(address: string): readonly string[] {
  if (isLoopback(address)) return [];
  const own = Object.values(networkInterfaces()).flatMap((interfaces) => interfaces ?? []);
  const addresses = isEveryAddress(address) ? own.map((each) => each.address) : [address];
  return [hostname(), ...addresses.map((each) => (each.includes(":") ? `[${each}]` : each))];
}
