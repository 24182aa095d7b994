export type SecurityLevel = "off" | "low" | "medium" | "high";

const ORDER: readonly SecurityLevel[] = ["off", "low", "medium", "high"];

/** Whether rules that begin at one level hold at another. */
export function isAtLeast(level: SecurityLevel, wanted: SecurityLevel): boolean {
  return ORDER.indexOf(level) >= ORDER.indexOf(wanted);
}
