import type { JsonObject } from "../../core/json.ts";
import { TERMINAL_TOOLS } from "../../ports/terminal-tools.ts";

const identifier = "^[a-zA-Z_][a-zA-Z0-9_]*$";

const condition: JsonObject = {
  type: "object",
  minProperties: 1,
  properties: {
    success: { type: "boolean", description: "Match on tool success status" },
    pattern_match: { type: "string", description: "Regex to match against match_text or screen_content" },
    pattern_not_match: { type: "string", description: "Regex that must NOT match" },
    field_equals: { type: "object", description: "Check if tool result field equals specific value" },
    field_contains: { type: "object", description: "Check if tool result field contains specific value" },
    timeout_occurred: { type: "boolean", description: "Match if state timed out" },
  },
  additionalProperties: false,
};

const transition: JsonObject = {
  type: "object",
  properties: {
    condition,
    next_state: {
      type: "string",
      pattern: identifier,
      description: "State to transition to when condition matches",
    },
  },
  required: ["condition", "next_state"],
  additionalProperties: false,
};

const action: JsonObject = {
  type: "object",
  properties: {
    tool: {
      enum: [...Object.keys(TERMINAL_TOOLS), "run_workflow"],
    },
    params: { type: "object", description: "Parameters for the tool call (tool-specific)" },
  },
  required: ["tool", "params"],
  additionalProperties: false,
};

const state: JsonObject = {
  type: "object",
  properties: {
    action,
    transitions: { type: "array", minItems: 0, maxItems: 20, items: transition },
    timeout: { type: "number", minimum: 0.1, maximum: 300.0, description: "State timeout in seconds" },
    on_timeout: { type: "string", pattern: identifier, description: "State to transition to if timeout occurs" },
  },
  required: ["action"],
  additionalProperties: false,
};

/** The structure of a terminal workflow, as the requirement for `run_workflow` gives it, word for word. */
export const workflowSchema: JsonObject = {
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "Workflow Definition",
  description: "Schema for defining executable workflows",
  type: "object",
  properties: {
    name: {
      type: "string",
      pattern: "^[a-zA-Z][a-zA-Z0-9_-]*$",
      minLength: 1,
      maxLength: 64,
      description: "Workflow identifier (alphanumeric, underscore, hyphen)",
    },
    description: { type: "string", maxLength: 500, description: "Human-readable description of workflow purpose" },
    initial_state: { type: "string", pattern: identifier, description: "Name of the starting state" },
    states: {
      type: "object",
      minProperties: 1,
      maxProperties: 100,
      patternProperties: { [identifier]: state },
      additionalProperties: false,
    },
  },
  required: ["name", "initial_state", "states"],
  additionalProperties: false,
};
