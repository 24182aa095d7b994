import type { JsonObject } from "../../../core/json.ts";
import { anyMap, jsonSchema, oneOrMore } from "../../shape/containers.ts";
import { expected, ignored, optional } from "../../shape/fields.ts";
import { inSnakeCase, object } from "../../shape/object.ts";
import { choice, filled, flag, integer, text } from "../../shape/scalars.ts";
import { to } from "../../shape/shape.ts";
import { toJson } from "../../source/yaml-node.ts";
import { requestFields, requestFieldsIn } from "../../work/request.ts";
import { functionName, LANGUAGE_NAMES, sandboxLimits } from "../../work/script.ts";
import { TERMINAL_TOOL_NAMES } from "../../work/tool-params.ts";
import type { Value } from "../references/value.ts";
import { params, template, value, valueMap } from "./texts.ts";

export const ofAgents = ignored("it belongs to steps that ask an agent.");

/** Real files carry these in steps that ask no agent. */
const carried = { prompt: ofAgents, model: ofAgents, max_turns: ofAgents, context: ofAgents };

const outputSchema = optional(jsonSchema("output_schema"), "A JSON Schema that the output must fit.");

const { method, response, maxBytes } = requestFields;
const { pages, auth } = requestFieldsIn({
  value: value(),
  address: to(template(filled()), (written): Value => ({ kind: "template", template: written })),
  spell: inSnakeCase,
  says: "",
});

const http = object(
  {
    url: expected(
      template(
        text({
          pattern: "^\\s*(https?:\\/\\/|\\$?\\{)\\S",
          wrong: (_, name) => ({
            message: `${name} must be an address.`,
            remedy: "Begin it with `https://` or `http://`, or with a value: `{input.site}`.",
          }),
        }),
      ),
      "The address. Values stand in it as they are; `query` encodes them.",
    ),
    method,
    headers: optional(valueMap(), "Headers by name."),
    query: optional(valueMap(), "Parameters that are added to the address, encoded; a list is written once per entry."),
    body: optional(value(), "What is sent: a text as it is, everything else as JSON."),
    form: optional(valueMap(), "Fields that are sent as a form (urlencoded) in place of a body."),
    pages,
    auth,
    expected_status: optional(oneOrMore(integer(100, 599)), "Each other status is a failure.", {
      otherwise: "200 to 299",
    }),
    response,
    max_response_bytes: { ...maxBytes, hints: { ...maxBytes.hints, also: ["maxResponseBytes"] } },
    output_schema: outputSchema,
    ...carried,
  },
  {
    says: "Sends a request. The output is `{status, headers, body}`; the body is JSON where the answer says so (`application/json`, `+json`), else a text, and null where there is none. An answer that says so and is no JSON fails the step.",
    elsewhere: {
      json: "Write it as `body`.",
      data: "Write it as `body`.",
      params: "Write it as `query`, or as `body`.",
      status: "Write it as `expected_status`.",
      authentication: "Write it as `auth`.",
    },
  },
);

const code = object(
  {
    script: expected(
      filled("scripts/orders.py#validate"),
      "The script's path in the application's folder, and the function in it: `path/file.py#function` or `path/file.py:function`.",
    ),
    language: optional(choice(LANGUAGE_NAMES), "In what the script is written.", {
      otherwise: "by the ending of the script",
    }),
    function: optional(functionName, "The function to call with `params`.", {
      otherwise: "the one that the script has, or its main function",
    }),
    params: optional(value(), "What the function gets.", { also: ["input"], otherwise: "an empty map" }),
    network: optional(flag(), "Whether the script may use the network.", { otherwise: "`false`" }),
    limits: sandboxLimits(inSnakeCase),
    output_schema: outputSchema,
    ...carried,
  },
  {
    says: "Runs a function of a script in a sandbox: `params` go in as JSON, what it returns is the output.",
    elsewhere: { code: "Write it into a file, and name the file as `script`.", target: "Write it as `script`." },
  },
);

const llm = object(
  {
    prompt: optional(
      template(filled()),
      "What the model is asked, with `{input.X}` and `{steps.ID.output}` for values. Either this or `prompt_template`.",
    ),
    prompt_template: optional(
      filled("prompts/summary.yaml"),
      "The path of a prompt file (YAML with `template`, `model`, `outputSchema` ...), which `params` fill.",
      { also: ["promptTemplate"] },
    ),
    params: optional(params(), "The values of the names in the prompt file.", { also: ["input"] }),
    model: optional(text(), "`provider:model`, or an alias.", {
      otherwise:
        "that of the prompt file, else `default_model` where the file says one, else that of the configuration",
    }),
    parameters: optional(
      to(anyMap(), (map) => toJson(map) as JsonObject),
      "Settings of the model, e.g. `temperature`, `maxTokens`.",
    ),
    output_format: optional(choice(["json", "text", "xml", "yaml"]), "What the answer is read as.", {
      otherwise: "`json` where there is an `output_schema`, else `text`",
      also: ["outputFormat"],
    }),
    output_schema: optional(
      jsonSchema("output_schema"),
      "A JSON Schema that the answer must fit; the model is asked again where it does not.",
    ),
    strict: optional(flag(), "A name in the prompt file that nothing fills is an error.", { otherwise: "`false`" }),
    max_turns: ofAgents,
    context: ofAgents,
  },
  {
    says: "Asks a model once, without tools.",
    elsewhere: { target: "Write it as `prompt_template`, or as `prompt`." },
    someOf: {
      keys: ["prompt", "prompt_template"],
      none: "The step has no prompt.",
      several: "The step has both a `prompt` and a `prompt_template`.",
      remedy: "Give one of `prompt` and `prompt_template`.",
    },
  },
);

const mcp = object(
  {
    tool: expected(template(filled("shop.find_order")), "The tool's name: `SERVER.TOOL`, or `core.*`."),
    server: optional(template(filled()), "The server that has it, where several have one."),
    params: optional(params(), "What the tool gets.", { also: ["arguments"] }),
    output_schema: outputSchema,
    ...carried,
  },
  {
    says: "Calls a tool of an MCP server, or one of the `core.*` tools. Its result is the output.",
    elsewhere: { target: "Write it as `tool`." },
  },
);

const terminal = object(
  {
    tool: expected(choice(TERMINAL_TOOL_NAMES), "The tool to call."),
    params: optional(params(), "What it is called with; each tool has its own."),
    output_schema: outputSchema,
    ...carried,
  },
  { says: "Calls one of the tools over terminals. A session belongs to the run." },
);

/** Steps whose work no agent does, by their `type`. */
export const workKinds = { llm, http, code, mcp, terminal };
