import type { JsonObject } from "../../../core/json.ts";
import { anyMap, either, jsonSchema, oneOrMore } from "../../shape/containers.ts";
import { expected, optional } from "../../shape/fields.ts";
import { object } from "../../shape/object.ts";
import { choice, filled, flag, integer } from "../../shape/scalars.ts";
import { type ReadOf, to } from "../../shape/shape.ts";
import { toJson, type YamlNode } from "../../source/yaml-node.ts";
import { requestFields, requestFieldsIn } from "../../work/request.ts";
import { checkPath, functionName, LANGUAGE_NAMES, readScript, sandboxLimits, splitScript } from "../../work/script.ts";
import { STRICT } from "../prompts/prompt-shape.ts";
import { taking } from "./step-fields.ts";
import { expression, mapping } from "./texts.ts";

/** They may stand under the `target` as well. */
const { params } = taking;

const json = to(anyMap(), (map) => toJson(map) as JsonObject);

const writtenCode = object({
  language: optional(choice(LANGUAGE_NAMES), "In what the script is written.", {
    otherwise: "by the ending of the script",
  }),
  script: expected(filled("scripts/orders.py"), "The script's path in the application's folder."),
  function: optional(functionName, "The function to call with the input.", {
    otherwise: "the one that the script has, or its main function",
  }),
  network: optional(flag(), "Whether the script may use the network.", { otherwise: "`false`" }),
  limits: sandboxLimits((shape) => shape),
  params,
});

export type ReadCode = ReadOf<typeof writtenCode>;
type CodeTarget = Partial<ReadCode>;

/** `path/file.py#function`, `path/file.py:function`, or a map. */
const code = to(
  either(
    to(filled("scripts/orders.py#validate"), (script): CodeTarget => splitScript(script)),
    to(writtenCode, (read): CodeTarget => read),
  ),
  ({ script: written, language, function: called, network, limits, params }, reader) => {
    const found = written && readScript({ script: written, language, function: called }, reader);
    return found && { ...found, network, limits, params };
  },
);

const writtenModel = object(
  {
    promptTemplate: optional(
      filled("prompts/confirmation.yaml"),
      "The path of a prompt template (YAML with `template`, `model`, `outputSchema` ...).",
    ),
    prompt: optional(
      filled(),
      "The prompt itself, in Jinja: `Hello {{ name }}`. Names are those of the input. Either this or `promptTemplate`.",
    ),
    model: optional(filled(), "`provider:model`, or an alias of the configuration."),
    parameters: optional(json, "Settings of the model, e.g. `temperature`, `maxTokens`."),
    strict: optional(flag(), STRICT, { otherwise: "`false`" }),
    outputFormat: optional(choice(["json", "text", "xml", "yaml"]), "What the answer is read as.", {
      otherwise: "`json` where there is an `outputSchema`, else `text`",
    }),
    outputSchema: optional(
      jsonSchema("outputSchema"),
      "A JSON Schema that the answer must fit; the model is asked again where it does not.",
    ),
    params,
  },
  {
    someOf: {
      keys: ["promptTemplate", "prompt"],
      none: "The `target` has no prompt.",
      several: "The step has both a `promptTemplate` and a `prompt`.",
      remedy: "Give one of `promptTemplate` and `prompt`.",
    },
  },
);

type ModelTarget = Partial<ReadOf<typeof writtenModel>>;

/** The path of a prompt template, the prompt itself, or a map. */
const model = to(
  either(
    to(
      filled("prompts/confirmation.yaml"),
      (short): ModelTarget => (looksLikeFile(short.value) ? { promptTemplate: short } : { prompt: short }),
    ),
    to(writtenModel, (read): ModelTarget => read),
  ),
  (read, { problems, later }) => {
    const { promptTemplate, prompt, model: name, parameters, strict, outputFormat, outputSchema, params } = read;
    if (promptTemplate !== undefined && !checkPath(promptTemplate, problems)) return undefined;
    if (prompt !== undefined) later.push({ kind: "prompt", text: prompt });
    const options: JsonObject = {
      ...(name === undefined ? {} : { model: name.value }),
      ...(parameters === undefined ? {} : { parameters }),
      ...(strict === undefined ? {} : { strict }),
      ...(outputFormat === undefined ? {} : { outputFormat }),
      ...(outputSchema === undefined ? {} : { outputSchema }),
    };
    return { promptTemplate, prompt, options, params };
  },
);

/** One word with an ending that prompts have. Everything else is a prompt. */
function looksLikeFile(target: string): boolean {
  return /^[^\s{}]+\.(ya?ml|json|j2|jinja2?|md|txt|prompt)$/i.test(target);
}

const writtenTool = object({
  tool: expected(filled("community.database.postgres.query"), "The tool's full name."),
  server: optional(filled(), "The server that has it, where several have one."),
  params,
});

type ToolTarget = Partial<ReadOf<typeof writtenTool>>;

const tool = to(
  either(
    to(filled("core.state.getRuntimeValue"), (name): ToolTarget => ({ tool: name })),
    to(writtenTool, (read): ToolTarget => read),
  ),
  ({ tool, server, params }) => tool && { tool: tool.value, server: server?.value, params },
);

const TEMPLATE = `A text with \`\${...}\` in it is that text with these values, any other text an expression.`;

const { method, response, maxBytes } = requestFields;
const { pages, auth } = requestFieldsIn<YamlNode>({
  value: expression,
  address: to(filled("https://login.example.com/oauth/token"), ({ at }) => at),
  spell: (shape) => shape,
  says: ` ${TEMPLATE}`,
});

/** A request, whose keys may stand under `target` as well. */
export const httpKind = object(
  {
    url: expected(
      filled("https://api.example.com/rates"),
      `The address, with \`\${...}\` for values, which are encoded; or an expression.`,
    ),
    method,
    headers: optional(mapping, `Headers by name. ${TEMPLATE}`),
    query: optional(mapping, `Parameters that are added to the address, encoded; a list once per entry. ${TEMPLATE}`),
    body: optional(
      expression,
      "What is sent: an expression, or a map or list of them. A text is sent as it is, everything else as JSON.",
    ),
    form: optional(mapping, `Fields that are sent as a form (urlencoded) in place of a body. ${TEMPLATE}`),
    pages,
    auth,
    expectedStatus: optional(oneOrMore(integer(100, 599)), "Each other status is a failure.", {
      also: ["expected_status", "expectedStatuses"],
      otherwise: "200 to 299",
    }),
    response,
    maxResponseBytes: maxBytes,
    outputSchema: optional(jsonSchema("outputSchema"), "A JSON Schema that the output must fit."),
  },
  {
    says: "Sends a request. The output is `{status, headers, body}`. A request that fails for the moment (no answer, 408, 425, 429, 5xx) is repeated as `retryPolicy` says; where 429 or 503 name a time (`Retry-After`), it waits for it and is sent again, which is no attempt.",
    elsewhere: {
      json: "Write it as `body`.",
      data: "Write it as `body`.",
      params: "Write it as `query`, or as `body`.",
      inputMapping: "Write it as `body`, or as `query`.",
      status: "Write it as `expectedStatus`.",
      authentication: "Write it as `auth`.",
    },
  },
);

/** Steps whose work is done outside, by their `type`. */
export const workKinds = {
  jit: object(
    {
      target: expected(
        code,
        "The script, and the function in it. In short: `path/file.py#function` or `path/file.py:function`; the language follows from the ending.",
      ),
    },
    {
      says: "Runs a function of a script in a sandbox: the input goes in as JSON, what it returns is the output. Parameters of a Python function that are named like keys of the input get their values; the only one, else, or one called `input`, gets all of it.",
    },
  ),
  llm: object(
    {
      target: expected(
        model,
        "The prompt and the model. In short: the path of a prompt template, or the prompt itself.",
      ),
    },
    { says: "Renders a prompt with the input, and asks a model." },
  ),
  mcp: object(
    { target: expected(tool, "The tool. In short: its name.") },
    { says: "Calls a tool of an MCP server, or one of the `core.*` tools. Its result is the output." },
  ),
};
