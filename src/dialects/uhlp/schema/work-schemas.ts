import type { JsonObject } from "../../../core/json.ts";
import { attempting, describing, flowing, mapping, shaping, spending } from "./step-properties.ts";

const working = { ...describing, ...mapping, ...shaping, ...flowing, ...attempting, ...spending };

const jit: JsonObject = {
  description: "Runs a function of a script in a sandbox: the input goes in as JSON, what it returns is the output.",
  properties: {
    ...working,
    target: {
      type: ["object", "string"],
      minLength: 1,
      description:
        "The script, and the function in it. In short: `path/file.py#function` or `path/file.py:function`; the language follows from the ending.",
      examples: ["scripts/orders.py#validate"],
      required: ["script"],
      properties: {
        language: {
          enum: ["python", "python3", "py", "javascript", "js", "node", "nodejs", "typescript", "ts"],
          description: "Absent: by the ending of the script.",
        },
        script: {
          type: "string",
          minLength: 1,
          description: "The script's path in the application's folder.",
          examples: ["scripts/orders.py"],
        },
        function: {
          type: "string",
          pattern: "^[A-Za-z_$][A-Za-z0-9_$.]{0,199}$",
          description:
            "The function to call with the input. Absent: the one that the script has, or its main function.",
          examples: ["validate"],
        },
        network: { type: "boolean", default: false, description: "Whether the script may use the network." },
        limits: {
          type: "object",
          description: "Limits of the sandbox; absent ones are those of the configuration.",
          properties: {
            memoryBytes: { type: "integer", minimum: 1, description: "Memory, in bytes." },
            maxOutputBytes: { type: "integer", minimum: 1, description: "How much it may print or return, in bytes." },
            maxProcesses: { type: "integer", minimum: 1, description: "Processes and threads at once." },
          },
          additionalProperties: false,
        },
      },
      additionalProperties: false,
    },
  },
  required: ["target"],
  additionalProperties: false,
};

const llm: JsonObject = {
  description: "Renders a prompt with the input, and asks a model.",
  properties: {
    ...working,
    target: {
      type: ["object", "string"],
      minLength: 1,
      description: "The prompt and the model. In short: the path of a prompt template, or the prompt itself.",
      examples: ["prompts/confirmation.yaml"],
      properties: {
        promptTemplate: {
          type: "string",
          minLength: 1,
          description: "The path of a prompt template (YAML with `template`, `model`, `outputSchema` ...).",
          examples: ["prompts/confirmation.yaml"],
        },
        prompt: {
          type: "string",
          minLength: 1,
          description: "The prompt itself, in Jinja: `Hello {{ name }}`. Names are those of the input.",
        },
        model: { type: "string", minLength: 1, description: "`provider:model`, or an alias of the configuration." },
        parameters: { type: "object", description: "Settings of the model, e.g. `temperature`, `maxTokens`." },
        outputFormat: {
          enum: ["json", "text", "xml", "yaml"],
          description: "What the answer is read as. Absent: `json` where there is an `outputSchema`, else `text`.",
        },
        outputSchema: {
          type: "object",
          description: "A JSON Schema that the answer must fit; the model is asked again where it does not.",
        },
      },
      additionalProperties: false,
    },
  },
  required: ["target"],
  additionalProperties: false,
};

const mcp: JsonObject = {
  description: "Calls a tool of an MCP server, or one of the `core.*` tools. Its result is the output.",
  properties: {
    ...working,
    target: {
      type: ["object", "string"],
      minLength: 1,
      description: "The tool. In short: its name.",
      examples: ["core.state.getRuntimeValue"],
      required: ["tool"],
      properties: {
        tool: {
          type: "string",
          minLength: 1,
          description: "The tool's full name.",
          examples: ["community.database.postgres.query"],
        },
        server: { type: "string", minLength: 1, description: "The server that has it, where several have one." },
      },
      additionalProperties: false,
    },
  },
  required: ["target"],
  additionalProperties: false,
};

/** Steps whose work is done outside, by their `type`. */
export const workSchemas: JsonObject = { jit, llm, mcp };
