import type { OpenApproval } from "../../../../operations/approvals/describe-run-approvals.ts";
import { placeOf } from "../../../../operations/approvals/place-of.ts";
import { formatTime } from "../text/format-time.ts";
import type { PageOptions } from "../text/page-options.ts";
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
  if (shown !== null) lines.push(`  ${truncate(sanitize(JSON.stringify(shown)), SHOWN_COLUMNS)}`);
  const address = quote(`${run_id}:${placeOf(approval)}`);
  lines.push(paint("dim", `  pawl approve ${address}   or   pawl reject ${address}`));
  if (allow_edit) lines.push(paint("dim", "  The data may be edited on approval."));
  return lines.join("\n");
}

/** Paths hold brackets, which shells read as patterns. */
function quote(address: string): string {
  return /^[\w:./@-]+$/.test(address) ? address : `'${address.replaceAll("'", String.raw`'\''`)}'`;
}
