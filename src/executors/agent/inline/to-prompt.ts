import type { Model } from "../../models/create-models.ts";
import type { CallOptions, ModelTool, Prompt } from "../../models/language-model.ts";
import type { TurnPart } from "../../models/turn-parts.ts";
import { ShownMedia, type ToolMedia } from "./tool-media.ts";
import type { ToolResult, Transcript } from "./transcript.ts";

type Message = Prompt[number];
type AssistantPart = Extract<Message, { readonly role: "assistant" }>["content"][number];
type ToolPart = Extract<Message, { readonly role: "tool" }>["content"][number];
type ProviderOptions = NonNullable<CallOptions["providerOptions"]>;

/** The conversation as providers of a kind take it. What was said is put in as it stands: nothing in it is expanded. */
export function toPrompt({ system, history, opening, turns }: Transcript, kind: Model["kind"]): Prompt {
  const shown = new ShownMedia(kind);
  return [
    ...(system === undefined ? [] : [{ role: "system" as const, content: system }]),
    ...history.flatMap(({ user, agent }) => [toUser([user]), ...toAssistant([{ type: "text", text: agent }])]),
    toUser(opening),
    ...turns.flatMap(({ said, results, objection }) => [
      ...toAssistant(said.parts),
      ...(results.length === 0 ? [] : [toToolMessage(results, shown)]),
      ...(objection === undefined ? [] : [toUser([objection])]),
    ]),
  ];
}

function toUser(texts: readonly string[]): Message {
  return { role: "user", content: texts.map((text) => ({ type: "text", text })) };
}

/** Providers refuse texts without a word, and messages without a part. */
function toAssistant(parts: readonly TurnPart[]): readonly Message[] {
  const said = parts.filter((part) => part.type !== "text" || part.text.trim() !== "");
  return said.length === 0 ? [] : [{ role: "assistant", content: said.map(toAssistantPart) }];
}

/** A model may call what no tool can be named, and providers refuse such a name in what was said before. */
function toSentName(name: string): string {
  return name.replace(/[^\w-]/g, "_").slice(0, 64) || "_";
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
        toolName: part.isProviders ? part.name : toSentName(part.name),
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

function toToolMessage(results: readonly ToolResult[], shown: ShownMedia): Message {
  const content = results.map(({ call, text, isError, media }): ToolPart => {
    const files = isError ? [] : shown.take(media).map(toFilePart);
    return {
      type: "tool-result",
      toolCallId: call.id,
      toolName: toSentName(call.name),
      output:
        files.length > 0
          ? { type: "content", value: [{ type: "text", text }, ...files] }
          : { type: isError ? "error-text" : "text", value: text },
    };
  });
  return { role: "tool", content };
}

function toFilePart({ mediaType, data }: ToolMedia) {
  return { type: "file" as const, mediaType, data: { type: "data" as const, data } };
}

interface Request {
  readonly prompt: Prompt;
  readonly tools: readonly ModelTool[];
}

const MARK = { anthropic: { cacheControl: { type: "ephemeral" } } } as const;

/** Marks the parts that the next turn repeats, which Anthropic caches only on request. Without tools there is no next turn. */
export function withCacheMarks({ prompt, tools }: Request, kind: Model["kind"]): Request {
  if (kind !== "anthropic" || tools.length === 0) return { prompt, tools };
  return {
    prompt: prompt.map((message, index) => {
      const isMarked = message.role === "system" || (index === prompt.length - 1 && message.role !== "assistant");
      return isMarked ? { ...message, providerOptions: MARK } : message;
    }),
    tools: tools.map((tool, index) =>
      index === tools.length - 1 && tool.type === "function" ? { ...tool, providerOptions: MARK } : tool,
    ),
  };
}
