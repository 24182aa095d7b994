import type { AgentTool } from "../../../ports/tools/agent-toolbox.ts";
import type { Model } from "../../models/create-models.ts";
import type { CallOptions, ModelTool, Prompt } from "../../models/language-model.ts";
import type { TurnPart } from "../../models/turn-parts.ts";
import type { ToolResult, Transcript } from "./transcript.ts";

type Message = Prompt[number];
type AssistantPart = Extract<Message, { readonly role: "assistant" }>["content"][number];
type ToolPart = Extract<Message, { readonly role: "tool" }>["content"][number];
type ProviderOptions = NonNullable<CallOptions["providerOptions"]>;

/** The conversation as providers take it. What was said is put in as it stands: nothing in it is expanded. */
export function toPrompt({ system, history, opening, turns }: Transcript): Prompt {
  return [
    ...(system === undefined ? [] : [{ role: "system" as const, content: system }]),
    ...history.flatMap(({ user, agent }) => [toUser([user]), toAssistant([{ type: "text", text: agent }])]),
    toUser(opening),
    ...turns.flatMap(({ said, results, objection }) => [
      toAssistant(said.parts),
      ...(results.length === 0 ? [] : [toToolMessage(results)]),
      ...(objection === undefined ? [] : [toUser([objection])]),
    ]),
  ];
}

function toUser(texts: readonly string[]): Message {
  return { role: "user", content: texts.map((text) => ({ type: "text", text })) };
}

function toAssistant(parts: readonly TurnPart[]): Message {
  return { role: "assistant", content: parts.map(toAssistantPart) };
}

function toAssistantPart(part: TurnPart): AssistantPart {
  // Metadata came from the provider as it takes it back.
  const given = part.metadata === undefined ? {} : { providerOptions: part.metadata as ProviderOptions };
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text, ...given };
    case "thinking":
      return { type: "reasoning", text: part.text, ...given };
    case "call":
      return {
        type: "tool-call",
        toolCallId: part.id,
        toolName: part.name,
        input: part.input,
        ...(part.isProviders ? { providerExecuted: true } : {}),
        ...given,
      };
    case "result":
      return {
        type: "tool-result",
        toolCallId: part.id,
        toolName: part.name,
        output: { type: part.isError ? "error-json" : "json", value: part.result as never },
        ...given,
      };
    case "custom":
      return { type: "custom", kind: part.kind as `${string}.${string}`, ...given };
  }
}

function toToolMessage(results: readonly ToolResult[]): Message {
  const content = results.map(({ call, text, isError }): ToolPart => {
    return {
      type: "tool-result",
      toolCallId: call.id,
      toolName: call.name,
      output: { type: isError ? "error-text" : "text", value: text },
    };
  });
  return { role: "tool", content };
}

/** The tools as a provider takes them. Their order never changes, or the provider's cache would miss. */
export function toModelTools(tools: readonly AgentTool[], providers: readonly ModelTool[]): readonly ModelTool[] {
  const functions = tools.map(({ name, description, inputSchema }): ModelTool => {
    // A schema of draft 2020-12 is passed on as it is; providers read what they understand.
    const schema = (
      inputSchema["type"] === undefined ? { type: "object", ...inputSchema } : inputSchema
    ) as SchemaOf<ModelTool>;
    return { type: "function", name, description, inputSchema: schema };
  });
  return [...providers, ...functions];
}

type SchemaOf<Tool> = Tool extends { readonly inputSchema: infer Schema } ? Schema : never;

interface Request {
  readonly prompt: Prompt;
  readonly tools: readonly ModelTool[];
}

const MARK = { anthropic: { cacheControl: { type: "ephemeral" } } } as const;

/**
 * Marks what the next turn will say again: system, tools, and the conversation so far. Anthropic caches only where it is
 * told to, and others need no telling; without tools there is no next turn that would pay for it.
 */
export function withCacheMarks({ prompt, tools }: Request, kind: Model["kind"]): Request {
  if (kind !== "anthropic" || tools.length === 0) return { prompt, tools };
  return {
    prompt: prompt.map((message, index) => {
      const isMarked = message.role === "system" || index === prompt.length - 1;
      return isMarked ? { ...message, providerOptions: MARK } : message;
    }),
    tools: tools.map((tool, index) =>
      index === tools.length - 1 && tool.type === "function" ? { ...tool, providerOptions: MARK } : tool,
    ),
  };
}
