import type { MapReader } from "../map-reader.ts";
import type { ParseContext } from "./parse-context.ts";
import { parseTemplate } from "./template.ts";
import { parsePath } from "./value.ts";
import type { ApprovalBody } from "./workflow.ts";

/** The message falls back to the prompt, which approval steps of real files carry. */
export function parseApproval(step: MapReader, context: ParseContext): ApprovalBody {
  const config = step.nested("approval_config");
  const message = config?.text("message") ?? step.text("prompt");
  const shown = config?.text("show_data");
  const show = shown && parsePath(shown, "show_data", context);
  const timeoutHours = config?.number("timeout_hours", { min: 0.0001, max: 8_784 });
  const onTimeout = config?.choice("on_timeout", ["abort", "skip"]) ?? "abort";
  const allowEdit = config?.flag("allow_edit") ?? false;
  config?.reportUnknownKeys("`approval_config`");
  step.ignore("prompt", "model", "max_turns", "output_schema", "context");
  return {
    type: "approval",
    message: message === undefined ? { parts: ["Approve this step?"] } : parseTemplate(message, context),
    show,
    allowEdit,
    ...(timeoutHours === undefined ? {} : { timeoutMs: Math.round(timeoutHours * 3_600_000) }),
    onTimeout,
  };
}
