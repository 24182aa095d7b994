import type { DeadLetter, DeadLetterList } from "../../../../operations/dead-letters/list-dead-letters.ts";
import { formatTime } from "../text/format-time.ts";
import type { PageOptions } from "../text/page-options.ts";
import { sanitize } from "../text/sanitize.ts";

/** What failed for good, and where to look. */
export function renderDeadLetters({ items: letters }: DeadLetterList, options: PageOptions): string {
  if (letters.length === 0) return "The dead-letter list is empty.";
  return letters.map((letter) => renderDeadLetter(letter, options)).join("\n\n");
}

function renderDeadLetter(letter: DeadLetter, { paint, now }: PageOptions): string {
  const { dead_letter_id: id, run_id, workflow_name, path, code, message, failed_at, status, note } = letter;
  const closed = status === "open" ? "" : `, ${status}${note === null ? "" : `: ${sanitize(note)}`}`;
  return [
    `${paint("red", "✗")} ${paint("bold", sanitize(path))} of ${sanitize(workflow_name)}: ${sanitize(message)}`,
    `  ${sanitize(code)}, ${formatTime(Date.parse(failed_at), now)}${closed}`,
    paint("dim", `  pawl runs show ${run_id}`),
    ...(status === "open" ? [paint("dim", `  pawl dead-letter retry '${sanitize(id)}'`)] : []),
  ].join("\n");
}
