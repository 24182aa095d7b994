/** Times as the clocks of a schedule's zone show them; on hover as those of the reader do. */
export function FireTimes({ times }: { readonly times: readonly string[] }) {
  if (times.length === 0) return <p className="text-soft">It never fires again.</p>;
  return (
    <ol className="grid gap-0.5">
      {times.map((time) => (
        <li key={time}>
          <time dateTime={time} title={`where you are: ${new Date(time).toLocaleString()}`}>
            {toWords(time)}
          </time>
        </li>
      ))}
    </ol>
  );
}

/** `2026-03-29T03:00:00+02:00`: the date and the clock of the zone, whatever the reader's is. */
function toWords(time: string): string {
  const [, day = "", clock = "", offset = ""] = /^([\d-]+)T(\d\d:\d\d):\d\d(.*)$/.exec(time) ?? [];
  const shown = new Date(`${day}T00:00:00Z`).toLocaleDateString(undefined, {
    timeZone: "UTC",
    weekday: "short",
    year: "numeric",
    month: "short",
    day: "numeric",
  });
  return `${shown}, ${clock} (${offset === "Z" ? "+00:00" : offset})`;
}
