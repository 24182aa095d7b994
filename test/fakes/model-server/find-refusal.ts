import { isJsonObject, type Json, type JsonObject } from "../../../src/core/json.ts";
import { SIGNATURE } from "./anthropic-words.ts";
import type { ModelApi, ModelRequest } from "./model-reply.ts";
import { objectsIn } from "./shown.ts";

/**
 * What the real API would answer with 400, in its own words or nearly so. `thoughtful`: the calls that came with thoughts,
 * which the API wants back with them.
 */
export function findRefusal(request: ModelRequest, thoughtful: ReadonlySet<string>): string | undefined {
  return FINDERS[request.api](request.body, thoughtful).find((refusal) => refusal !== undefined);
}

type Refusals = readonly (string | undefined)[];

const FINDERS: Readonly<Record<ModelApi, (body: JsonObject, thoughtful: ReadonlySet<string>) => Refusals>> = {
  anthropic: refuseMessages,
  chat: refuseChat,
  responses: refuseResponses,
  google: refuseGoogle,
};

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const MOST_TOOLS = 128;

function refuseMessages(body: JsonObject, thoughtful: ReadonlySet<string>): Refusals {
  const messages = objectsIn(body["messages"]).map(({ role, content }) => ({
    role,
    blocks: typeof content === "string" ? [{ type: "text", text: content }] : objectsIn(content),
  }));
  const tools = objectsIn(body["tools"]).filter(({ input_schema: schema }) => schema !== undefined);
  return [
    typeof body["max_tokens"] === "number" ? undefined : "max_tokens: Field required",
    messages[0]?.role === "user" ? undefined : "messages: first message must use the user role",
    ...tools.flatMap(({ name, input_schema: schema }, index) => [
      refuseName(name, `tools.${index}.custom.name`),
      ...["oneOf", "allOf", "anyOf"].map((key) =>
        isJsonObject(schema) && key in schema
          ? `tools.${index}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`
          : undefined,
      ),
      isJsonObject(schema) && schema["type"] === "object"
        ? undefined
        : `tools.${index}.custom.input_schema.type: Input should be 'object'`,
    ]),
    ...messages.flatMap(({ role, blocks }, at) => [
      blocks.length > 0 ? undefined : `messages.${at}: all messages must have non-empty content`,
      ...blocks.map((block) => refuseBlock(block, `messages.${at}`)),
      ...(role === "assistant" ? refuseAnswer(blocks, { next: messages[at + 1]?.blocks ?? [], thoughtful }) : []),
    ]),
  ];
}

function refuseBlock(block: JsonObject, place: string): string | undefined {
  const { type, text, signature, name } = block;
  if (type === "text" && String(text) === "") return `${place}: text content blocks must be non-empty`;
  if (type === "text" && String(text).trim() === "")
    return `${place}: text content blocks must contain non-whitespace text`;
  if (type === "thinking" && signature !== SIGNATURE) return `${place}: Invalid \`signature\` in \`thinking\` block`;
  return type === "tool_use" ? refuseName(name, `${place}.content.tool_use.name`) : undefined;
}

function refuseAnswer(
  blocks: readonly JsonObject[],
  { next, thoughtful }: { readonly next: readonly JsonObject[]; readonly thoughtful: ReadonlySet<string> },
): Refusals {
  const ids = blocks.filter(({ type }) => type === "tool_use").map(({ id }) => String(id));
  const answered = next.map(({ tool_use_id: id }) => id);
  const lonely = ids.find((id) => !answered.includes(id));
  const needsThoughts = ids.some((id) => thoughtful.has(id)) && blocks[0]?.["type"] !== "thinking";
  return [
    lonely && `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${lonely}`,
    new Set(ids).size < ids.length ? "`tool_use` ids must be unique" : undefined,
    needsThoughts ? "Expected `thinking` or `redacted_thinking`, but found `tool_use`" : undefined,
  ];
}

function refuseChat(body: JsonObject): Refusals {
  const messages = objectsIn(body["messages"]);
  const tools = objectsIn(body["tools"]).flatMap((tool) => objectsIn([tool["function"] ?? null]));
  return [
    ...refuseFunctions(tools),
    ...messages.flatMap(({ role, content, tool_calls: calls }, at) => {
      if (role !== "assistant") return [];
      const after = messages.slice(at + 1);
      const others = after.findIndex((message) => message["role"] !== "tool");
      const answered = (others === -1 ? after : after.slice(0, others)).map(({ tool_call_id: id }) => id);
      const lonely = objectsIn(calls).find(({ id }) => !answered.includes(id));
      const isEmpty = (content ?? "") === "" && objectsIn(calls).length === 0;
      return [
        lonely && `An assistant message with 'tool_calls' must be followed by tool messages: ${String(lonely["id"])}`,
        isEmpty ? "Invalid assistant message: content or tool_calls must be set" : undefined,
        ...objectsIn(calls).map((call) => refuseName(nameIn(call["function"]), `messages[${at}].tool_calls.name`)),
      ];
    }),
  ];
}

function refuseResponses(body: JsonObject, thoughtful: ReadonlySet<string>): Refusals {
  const items = objectsIn(body["input"]);
  const outputs = items.filter(({ type }) => type === "function_call_output").map(({ call_id: id }) => id);
  return [
    ...refuseFunctions(objectsIn(body["tools"]).filter(({ type }) => type === "function")),
    ...items.flatMap((item, at) => {
      const { type, id, call_id: callId, name } = item;
      const before = items.slice(0, at);
      const turn = before.slice(before.findLastIndex(isForModel) + 1);
      if (type === "item_reference") return [`Item with id '${String(id)}' not found.`];
      if (type === "reasoning")
        return [
          typeof item["encrypted_content"] === "string" ? undefined : `Item with id '${String(id)}' not found.`,
          items[at + 1] === undefined || items[at + 1]?.["role"] === "user"
            ? `Item '${String(id)}' of type 'reasoning' was provided without its required following item.`
            : undefined,
        ];
      if (type !== "function_call") return [];
      return [
        refuseName(name, `input[${at}].name`),
        outputs.includes(callId) ? undefined : `No tool output found for function call ${String(callId)}.`,
        thoughtful.has(String(callId)) && !turn.some((other) => other["type"] === "reasoning")
          ? `Item '${String(id)}' of type 'function_call' was provided without its required 'reasoning' item.`
          : undefined,
      ];
    }),
  ];
}

function isForModel({ role, type }: JsonObject): boolean {
  return role === "user" || type === "function_call_output";
}

/** OpenAI's, of both of its APIs. */
function refuseFunctions(functions: readonly JsonObject[]): Refusals {
  return [
    functions.length > MOST_TOOLS
      ? `Invalid 'tools': array too long. Expected an array with maximum length ${MOST_TOOLS}, but got an array with length ${functions.length} instead.`
      : undefined,
    ...functions.flatMap(({ name, description, parameters }) => {
      const schema = isJsonObject(parameters) ? parameters : {};
      const isRefused = ["oneOf", "anyOf", "allOf", "enum", "not"].some((key) => key in schema);
      return [
        refuseName(name, "tools.function.name"),
        isRefused || schema["type"] !== "object"
          ? `Invalid schema for function '${String(name)}': schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.`
          : undefined,
        String(description ?? "").length > 1_024 ? "Invalid 'tools.function.description': string too long." : undefined,
      ];
    }),
  ];
}

function refuseGoogle(body: JsonObject, thoughtful: ReadonlySet<string>): Refusals {
  const contents = objectsIn(body["contents"]).map(({ role, parts }) => ({ role, parts: objectsIn(parts) }));
  const tools = objectsIn(body["tools"]).flatMap((tool) => objectsIn(tool["functionDeclarations"]));
  return [
    tools.length > 512 ? "At most 512 function declarations can be provided." : undefined,
    ...tools.map(({ name }) => refuseName(name, "function_declarations.name")),
    ...contents.flatMap(({ role, parts }, at) => {
      const calls = parts.filter(({ functionCall }) => functionCall !== undefined);
      const answers = (contents[at + 1]?.parts ?? []).filter((part) => part["functionResponse"] !== undefined);
      return [
        parts.length > 0 ? undefined : "contents.parts must not be empty.",
        role === "model" && calls.length !== answers.length
          ? "Please ensure that the number of function response parts is equal to the number of function call parts."
          : undefined,
        thoughtful.size > 0 && calls[0] !== undefined && calls[0]["thoughtSignature"] === undefined
          ? "Function call is missing a thought_signature in functionCall parts."
          : undefined,
      ];
    }),
  ];
}

function refuseName(name: Json | undefined, place: string): string | undefined {
  return typeof name === "string" && NAME.test(name)
    ? undefined
    : `${place}: String should match pattern '^[a-zA-Z0-9_-]{1,64}$', got ${JSON.stringify(name)}`;
}

function nameIn(called: Json | undefined): Json | undefined {
  return isJsonObject(called) ? called["name"] : undefined;
}
