import type { Violation } from "../../../../operations/runs/violations.ts";
import { formatTime } from "../text/format-time.ts";
import type { PageOptions } from "../text/page-options.ts";
import { sanitize } from "../text/sanitize.ts";

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
