import { type Dialect, keys, type Reach, words } from "../dialect.ts";
import type { ControlBody, HttpBody, WorkBody } from "./shape/step-shape.ts";
import type { ReadCode } from "./shape/work-shape.ts";
import type { ReadWorkflow } from "./shape/workflow-shape.ts";

const reach: Reach<ReadWorkflow | WorkBody | HttpBody | ControlBody | ReadCode> = {
  ...words("name", "description", "workflowId", "version", "startAt", "steps", "maxSteps", "timeout"),
  ...words(
    "references",
    "inputSchema",
    "deadLetter",
    "maxCostUsd",
    "limits",
    "transitions",
    "end",
    "inputMapping",
    "params",
  ),
  ...words(
    "outputMapping",
    "retryPolicy",
    "atMostOnce",
    "subtype",
    "language",
    "function",
    "concurrency",
    "rate",
    "debounce",
  ),
  ...words("code", "list", "message", "key", "duration", "until", "event", "match", "body", "data", "default", "catch"),
  ...words("resultType", "details", "iteratorVar", "indexVar", "maxConcurrency", "continueOnError", "branches"),
  ...words("payload", "reminder", "escalation"),
  ...words(
    "if",
    "variables",
    "output",
    "onError",
    "condition",
    "maxIterations",
    "toleratedFailures",
    "compensate",
    "status",
    "method",
    "query",
    "expectedStatus",
    "response",
    "outputSchema",
  ),
  ...words("maxResponseBytes", "pages", "show", "onTimeout", "approvers", "quorum", "notRequester"),
  ...keys(["variables", "addresses"], "url", "headers", "auth"),
  ...keys(["variables"], "form"),
  ...words("itemVar", "routes", "sources", "strategy", "failOnError", "finally"),
  ...keys(["dialects"], "dialect"),
  ...keys(["variables"], "trigger", "triggers"),
  ...keys(["executors", "code", "terminals"], "type"),
  ...keys(["servers", "terminals", "workflows", "code", "folders"], "target"),
  ...keys(["code", "folders"], "script"),
  ...keys(["code"], "network"),
};

export const uhlp: Dialect = {
  name: "uhlp",
  looksLike: "`startAt`, and a map `steps`",
  hasShape(root) {
    if (root.kind !== "map" || root.entries.get("steps")?.value.kind !== "map") return false;
    return root.entries.has("startAt") || root.entries.has("workflowId");
  },
  async compile(...text) {
    const { compileUhlp } = await import("./compile.ts");
    return compileUhlp(...text);
  },
  reach,
};
