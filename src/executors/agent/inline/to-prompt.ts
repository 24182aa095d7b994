import type { CallOptions, Prompt } from "../../models/language-model.ts";
import type { TurnPart } from "../../models/turn-part.ts";
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
