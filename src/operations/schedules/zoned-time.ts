/** A moment as the clocks of a zone show it: `2026-03-29T03:00:00+02:00`. */
export function toZonedTime(ms: number, timezone: string): string {
  return openZonedTime(timezone)(ms);
}

/** The same for many moments: to open a zone takes longer than to show one. */
export function openZonedTime(timezone: string): (ms: number) => string {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: timezone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "longOffset",
  });
  return (ms) => {
    const parts = format.formatToParts(new Date(ms));
    const of = (type: string) => parts.find((part) => part.type === type)?.value ?? "";
    const offset = of("timeZoneName").replace("GMT", "");
    return `${of("year")}-${of("month")}-${of("day")}T${of("hour")}:${of("minute")}:${of("second")}${offset || "Z"}`;
  };
}
