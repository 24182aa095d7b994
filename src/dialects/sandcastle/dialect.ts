import { isMap, isSeq, parseDocument } from "yaml";
import { type Dialect, keys, type Reach, words } from "../dialect.ts";
import { compileSandcastle } from "./compile.ts";
import type { ReadStep } from "./shape/step-shape.ts";
import type { ReadWorkflow } from "./shape/workflow-shape.ts";

const reach: Reach<ReadWorkflow | ReadStep> = {
  ...words("name", "description", "schedule", "default_model", "default_max_turns", "default_timeout", "context"),
  ...words(
    "references",
    "input_schema",
    "max_cost_usd",
    "limits",
    "policies",
    "id",
    "depends_on",
    "parallel_over",
    "each",
  ),
  ...words("max_concurrent", "timeout", "retry", "fallback", "at_most_once", "autopilot", "slo", "model_pool"),
  ...words("prompt", "model", "max_turns", "output_schema", "approval_config", "duration", "until", "event", "match"),
  ...words("method", "query", "body", "expected_status", "language", "function", "params", "steps"),
  ...words(
    "parameters",
    "output_format",
    "strict",
    "concurrency",
    "rate",
    "debounce",
    "pages",
    "response",
    "max_response_bytes",
  ),
  ...keys(["dialects"], "dialect"),
  ...keys(["executors", "code", "terminals"], "type"),
  ...keys(["variables", "addresses"], "sandstorm_url", "url", "headers", "auth"),
  ...keys(["variables"], "env", "form"),
  ...keys(["variables", "addresses", "storage"], "on_complete"),
  ...keys(["variables", "addresses"], "on_failure", "on_approval"),
  ...keys(["storage"], "csv_output", "report", "pdf_report"),
  ...keys(["workflows"], "sub_workflow"),
  ...keys(["servers", "code"], "tools"),
  ...keys(["servers", "terminals"], "tool", "server"),
  ...keys(["code", "folders"], "script"),
  ...keys(["folders"], "prompt_template"),
  ...keys(["code"], "network"),
};

export const sandcastle: Dialect = {
  name: "sandcastle",
  looksLike: "`name`, and a list `steps` of `{id, prompt}`",
  hasShape(root) {
    const steps = root.kind === "map" ? root.entries.get("steps")?.value : undefined;
    // `steps:` with nothing under it is a file that its author has just begun.
    return steps?.kind === "list" || (steps?.kind === "scalar" && steps.value === null);
  },
  compile: compileSandcastle,
  replacePrompt(text, step, prompt) {
    const document = parseDocument(text, { intAsBigInt: true });
    const steps = document.get("steps");
    if (!isSeq(steps)) return undefined;
    const found = steps.items.find((item) => isMap(item) && String(item.get("id")) === step);
    if (!isMap(found)) return undefined;
    found.set("prompt", prompt);
    return document.toString({ lineWidth: 0 });
  },
  reach,
};
