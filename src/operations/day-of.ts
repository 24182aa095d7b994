/** The day of a time, `2026-05-01`, where the clock on the wall shows the zone's time. `zone`: an IANA name. */
export function dayOf(at: number, zone: string): string {
  if (zone === "UTC") return new Date(at).toISOString().slice(0, 10);
  // Of all locales this one writes days as ISO 8601 does.
  return new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short" }).format(at);
}
