import { writeExact } from "../../../../core/exact-json.ts";
import type { OpenApproval } from "../../../../operations/approvals/describe-run-approvals.ts";
import { placeOf } from "../../../../operations/approvals/place-of.ts";
import type { DeadLetter, DeadLetterList } from "../../../../operations/dead-letters/list-dead-letters.ts";
import type { Violation } from "../../../../operations/runs/violations.ts";
import { shellWord } from "../../../../operations/shell-word.ts";
import { formatTime } from "../text/formats.ts";
import type { PageOptions } from "../text/paint.ts";
import { sanitize } from "../text/sanitize.ts";
import { truncate } from "../text/text-width.ts";

const SHOWN_COLUMNS = 2_000;

/** What a person is asked, and the commands that answer. */
export function renderApprovals(
  { items: approvals }: { readonly items: readonly OpenApproval[] },
  options: PageOptions,
): string {
  if (approvals.length === 0) return "Nothing waits for a person.";
  return approvals.map((approval) => renderApproval(approval, options)).join("\n\n");
}

function renderApproval(approval: OpenApproval, { paint, now }: PageOptions): string {
  const { run_id, workflow_name, path, message, shown, since, times_out_at, on_timeout, allow_edit } = approval;
  const limit =
    times_out_at === null ? "" : `, until ${formatTime(Date.parse(times_out_at), now)} (then ${on_timeout ?? "abort"})`;
  const lines = [
    `${paint("magenta", "?")} ${paint("bold", sanitize(path))} of ${sanitize(workflow_name)}: ${sanitize(message)}`,
    `  since ${formatTime(Date.parse(since), now)}${limit}`,
  ];
  if (shown !== null) lines.push(`  ${truncate(sanitize(writeExact(shown)), SHOWN_COLUMNS)}`);
  const address = shellWord(`${run_id}:${placeOf(approval)}`);
  lines.push(paint("dim", `  pawl approve ${address}   or   pawl reject ${address}`));
  if (allow_edit) lines.push(paint("dim", "  The data may be edited on approval."));
  return lines.join("\n");
}

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

/** What policies had to say, and where to look. */
export function renderViolations(
  { items: violations }: { readonly items: readonly Violation[] },
  { paint, now }: PageOptions,
): string {
  if (violations.length === 0) return "No policy has had anything to say.";
  return violations
    .map(({ run_id, workflow_name, path, policy, action, why, at }) =>
      [
        `${paint(action === "block" ? "red" : "yellow", action)} ${paint("bold", sanitize(path))} of ${sanitize(workflow_name)}: ${sanitize(policy)}, since ${sanitize(why)}`,
        paint("dim", `  ${formatTime(Date.parse(at), now)}, pawl runs show ${run_id}`),
      ].join("\n"),
    )
    .join("\n\n");
}
