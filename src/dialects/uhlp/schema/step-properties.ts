import type { JsonObject } from "../../../core/json.ts";
import { sameAs } from "./own-keywords.ts";

/** Groups of properties that steps share; every kind of step spreads those that it has. */

export const describing: JsonObject = {
  type: {
    enum: ["jit", "llm", "mcp", "control"],
    description:
      "What the step does: `jit` runs a function of a script, `llm` asks a model, `mcp` calls a tool, `control` works on the flow itself.",
  },
  description: { type: "string", description: "For people: what the step is for." },
};

export const flowing: JsonObject = {
  transitions: { $ref: "#/definitions/transitions" },
  end: { type: "boolean", description: "The workflow (or the block) ends after this step." },
};

export const mapping: JsonObject = {
  inputMapping: { $ref: "#/definitions/mapping" },
  params: { $ref: "#/definitions/params" },
};

export const shaping: JsonObject = { outputMapping: { $ref: "#/definitions/outputMapping" } };

export const attempting: JsonObject = {
  timeout: {
    $ref: "#/definitions/timeLimit",
    description: "How long one attempt may take; then it fails with the code `TIMEOUT`.",
  },
  retryPolicy: { $ref: "#/definitions/retryPolicy" },
  retry: sameAs("retryPolicy", { $ref: "#/definitions/retryPolicy" }),
};

export const spending: JsonObject = {
  atMostOnce: {
    type: "boolean",
    default: false,
    description:
      "The step is never tried again while it is unknown whether it had an effect, for instance after a crash: then it fails with `INTERRUPTED`.",
  },
  at_most_once: sameAs("atMostOnce", { type: "boolean" }),
  maxCostUsd: {
    type: "number",
    exclusiveMinimum: 0,
    maximum: 1_000_000,
    description: "What the step may cost, all attempts together.",
  },
  max_cost_usd: sameAs("maxCostUsd", { type: "number", exclusiveMinimum: 0, maximum: 1_000_000 }),
};
