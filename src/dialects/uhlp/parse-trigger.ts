import type { Trigger } from "../../core/graph/graph.ts";
import type { ProblemList } from "../problem-list.ts";
import type { Text } from "../shape/shape.ts";
import { toExcerpt } from "../source/printable.ts";
import type { YamlMap } from "../source/yaml-node.ts";
import type { ParseContext } from "./parse-context.ts";
import { mapAt, textAt } from "./read-node.ts";

/** Undefined: nothing but a call starts the workflow, or it has been reported what is wrong. */
export function parseTrigger(top: YamlMap, context: ParseContext): Trigger | undefined {
  const trigger = mapAt(top, "trigger");
  const config = mapAt(trigger, "config");
  if (trigger === undefined || config === undefined) return undefined;
  switch (textAt(trigger, "type")?.value) {
    case "http":
      return parseHttp(config, context);
    case "cron":
      return parseCron(config, trigger, context);
    case "queue": {
      const queue = textAt(config, "queueName", "queue");
      if (queue === undefined) return reportMissing("queueName", trigger, context);
      return { kind: "queue", queueName: queue.value };
    }
    case "trigger":
      return parseEvent(config, trigger, context);
    default:
      return undefined;
  }
}

function parseHttp(config: YamlMap, { source, problems }: ParseContext): Trigger | undefined {
  const pattern = textAt(config, "pathPattern");
  if (pattern === undefined || !pattern.value.startsWith("/")) return undefined;
  const pathPattern = parsePattern(pattern, problems);
  const { line, column } = source.place(pattern.at);
  const method = textAt(config, "method")?.value.toUpperCase() ?? "POST";
  return pathPattern === undefined ? undefined : { kind: "http", method, pathPattern, place: { line, column } };
}

/** Parameters as `{name}`, each a whole segment. */
function parsePattern(pattern: Text, problems: ProblemList): string | undefined {
  const names = new Set<string>();
  const segments = pattern.value.split("/").map((segment) => {
    const name = /^(?::([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})$/.exec(segment)?.slice(1).find(Boolean);
    if (name === undefined) return /^[^{}:*?#\s\\]*$/.test(segment) ? segment : undefined;
    if (names.has(name)) return undefined;
    names.add(name);
    return `{${name}}`;
  });
  const wrong = segments.indexOf(undefined);
  if (wrong < 0) return segments.join("/");
  const message = `\`${toExcerpt(pattern.value.split("/")[wrong] ?? "")}\` cannot be a part of a route.`;
  const remedy = "Write plain text, or a whole parameter such as `{orderId}`, each with a name of its own.";
  problems.error({ code: "VALUE_INVALID", at: pattern.at, message, remedy });
  return undefined;
}

function parseCron(config: YamlMap, trigger: YamlMap, context: ParseContext): Trigger | undefined {
  const schedule = textAt(config, "schedule", "cron", "expression");
  const timezone = textAt(config, "timezone");
  if (schedule === undefined) return reportMissing("schedule", trigger, context);
  context.crons.push(schedule);
  if (timezone !== undefined && !isTimezone(timezone.value)) {
    const message = `There is no time zone \`${toExcerpt(timezone.value)}\`.`;
    const remedy = "Use an IANA name, for example `Europe/Berlin`.";
    context.problems.error({ code: "VALUE_INVALID", at: timezone.at, message, remedy });
  }
  return { kind: "cron", schedule: schedule.value, timezone: timezone?.value ?? "UTC" };
}

function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

function parseEvent(config: YamlMap, trigger: YamlMap, context: ParseContext): Trigger | undefined {
  const event = textAt(config, "triggerEvent", "event");
  const source = textAt(config, "sourceAppId");
  if (event === undefined) return reportMissing("triggerEvent", trigger, context);
  return { kind: "event", event: event.value, ...(source === undefined ? {} : { sourceAppId: source.value }) };
}

function reportMissing(key: string, { entries }: YamlMap, { problems, faulty }: ParseContext): undefined {
  const config = entries.get("config");
  if (config === undefined || faulty.some(({ start, end }) => start >= config.value.start && end <= config.value.end))
    return undefined;
  const message = `The trigger's \`config\` has no \`${key}\`.`;
  problems.error({ code: "KEY_MISSING", at: config.key, message, remedy: `Add \`${key}\`.` });
  return undefined;
}
