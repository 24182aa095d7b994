import type { MapReader, Text } from "../map-reader.ts";
import type { ParseContext } from "./parse-context.ts";
import { parseTemplate, slotsOf } from "./template.ts";
import type { WaitBody } from "./workflow.ts";

/** `duration`, `until` or `event`; `timeout` is how long an event is waited for. */
export function parseWait(step: MapReader, timeoutMs: number | undefined, context: ParseContext): WaitBody {
  step.ignore("prompt", "model", "max_turns", "output_schema", "context");
  checkOneKey(step, context);
  const durationMs = step.durationMs("duration");
  const until = step.text("until");
  const event = step.text("event");
  if (until !== undefined) return parseUntil(until, context);
  if (event === undefined) return { for: "duration", durationMs: durationMs ?? 0 };
  return { for: "event", name: parseTemplate(event, context), timeoutMs };
}

function checkOneKey(step: MapReader, { problems }: ParseContext): void {
  const count = ["duration", "until", "event"].filter((key) => step.has(key)).length;
  if (count === 1) return;
  const message =
    count === 0 ? "The step does not say what to wait for." : `The step waits for ${count} things at once.`;
  const remedy = "Give one of `duration`, `until` and `event`.";
  problems.error({ code: count === 0 ? "KEY_MISSING" : "VALUE_INVALID", at: step.at("type"), message, remedy });
}

function parseUntil(until: Text, context: ParseContext): WaitBody {
  const at = parseTemplate(until, context);
  if (slotsOf(at).length === 0 && Number.isNaN(Date.parse(until.value))) {
    const message = "`until` must be a time such as `2026-05-01T09:00:00Z`.";
    context.problems.error({ code: "VALUE_INVALID", at: until.at, message, remedy: "Write it in ISO 8601." });
  }
  return { for: "instant", at };
}
