import { MapReader, type Text } from "../map-reader.ts";
import { toExcerpt } from "../source/printable.ts";
import type { YamlMap } from "../source/yaml-node.ts";
import type { ParseContext, StepDefaults } from "./parse-context.ts";
import { parseInputSchema } from "./parse-input.ts";
import { parseLimits } from "./parse-limits.ts";
import { parsePolicies } from "./parse-policies.ts";
import { parseSteps } from "./parse-step.ts";
import { leavesStorage } from "./storage-path.ts";
import { parseTemplate } from "./template.ts";
import type { Workflow } from "./workflow.ts";

/** Reads a whole file. What is wrong is reported and left out, so that everything else is still read and checked. */
export function parseWorkflow(root: YamlMap, context: Omit<ParseContext, "envAllowed" | "policies">): Workflow {
  const top = new MapReader(root, context.problems);
  top.ignore("dialect");
  const envAllowed = parseEnvAllowed(top, context);
  const named = { ...context, envAllowed: new Set(envAllowed) };
  const full: ParseContext = { ...named, policies: parsePolicies(top, { ...named, policies: [] }) };
  const workflow: Workflow = {
    ...parseHead(top, full),
    input: parseInputSchema(top, full),
    envAllowed,
    ...parseCompletion(top, full),
    ...parseFailure(top, full),
    ...parseApproval(top, full),
    steps: parseSteps(top, parseDefaults(top), full),
  };
  top.reportUnknownKeys("a workflow");
  return workflow;
}

const LONGEST_NAME = 200;

function parseHead(top: MapReader, context: ParseContext) {
  const description = top.text("description")?.value;
  const sandstormUrl = parseUrl(top, "sandstorm_url", context);
  const schedule = top.text("schedule");
  if (schedule !== undefined) context.crons.push(schedule);
  return {
    name: parseName(top, context),
    description,
    sandstormUrl,
    ...(schedule === undefined ? {} : { schedule: schedule.value }),
    limits: parseLimits(top),
  };
}

function parseName(top: MapReader, { problems }: ParseContext): string {
  const name = top.text("name");
  if (name === undefined && top.has("name")) return "";
  if (name === undefined || name.value.trim() === "") {
    const finding = { at: top.at("name"), message: "Workflow name is required", remedy: "Add `name:`." };
    problems.error({ code: "KEY_MISSING", ...finding });
    return "";
  }
  if (name.value.length > LONGEST_NAME) {
    const message = `The name has ${name.value.length} characters; ${LONGEST_NAME} are allowed.`;
    problems.error({ code: "VALUE_INVALID", at: name.at, message, remedy: "Shorten it." });
  }
  return name.value;
}

function parseDefaults(top: MapReader): StepDefaults {
  return {
    model: top.text("default_model")?.value ?? "sonnet",
    maxTurns: top.number("default_max_turns", { min: 1, max: 10_000, integer: true }) ?? 10,
    timeoutMs: top.durationMs("default_timeout") ?? 300_000,
    appendsContext: top.choice("context", ["auto", "explicit"]) !== "explicit",
  };
}

function parseEnvAllowed(top: MapReader, { problems }: Pick<ParseContext, "problems">): readonly string[] {
  const env = top.nested("env");
  const names = (env?.list("allow")?.items ?? []).flatMap((node) => env?.asText(node, "allow") ?? []);
  env?.reportUnknownKeys("`env`");
  return names.flatMap((name) => {
    if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name.value)) return [name.value];
    const message = `\`${toExcerpt(name.value)}\` cannot be the name of an environment variable.`;
    const remedy = "Write the name alone, without `$` and braces.";
    problems.error({ code: "VALUE_INVALID", at: name.at, message, remedy });
    return [];
  });
}

function parseCompletion(top: MapReader, context: ParseContext) {
  const completion = top.nested("on_complete");
  if (completion === undefined) return {};
  const webhook = parseUrl(completion, "webhook", context);
  const storagePath = completion.text("storage_path");
  if (storagePath !== undefined) reportEscape(storagePath, context);
  completion.reportUnknownKeys("`on_complete`");
  return {
    completionWebhook: webhook,
    ...(storagePath === undefined ? {} : { storagePath: parseTemplate(storagePath, context) }),
  };
}

function parseFailure(top: MapReader, context: ParseContext) {
  const failure = top.nested("on_failure");
  const webhook = failure && parseUrl(failure, "webhook", context);
  const deadLetter = failure?.flag("dead_letter") ?? false;
  failure?.reportUnknownKeys("`on_failure`");
  return { deadLetter, failureWebhook: webhook };
}

function parseApproval(top: MapReader, context: ParseContext) {
  const approval = top.nested("on_approval");
  const webhook = approval && parseUrl(approval, "webhook", context);
  approval?.reportUnknownKeys("`on_approval`");
  return webhook === undefined ? {} : { approvalWebhook: webhook };
}

/** Kept as written: `${NAME}` is resolved when the URL is used and never stored. */
function parseUrl(reader: MapReader, key: string, { problems }: ParseContext): string | undefined {
  const url = reader.text(key);
  if (url === undefined || url.value.trim() === "") return undefined;
  if (/^(https?:\/\/|\$\{)\S+$/.test(url.value)) return url.value;
  const message = `\`${key}\` must be a URL, or a variable such as \`\${SANDSTORM_URL}\`.`;
  problems.error({ code: "VALUE_INVALID", at: url.at, message, remedy: "Begin it with `http://` or `https://`." });
  return undefined;
}

function reportEscape(path: Text, { problems }: ParseContext): void {
  if (!leavesStorage(path.value)) return;
  const message = `\`${toExcerpt(path.value)}\` leaves the storage.`;
  problems.error({ code: "STORAGE_PATH_INVALID", at: path.at, message });
}
