import type { Json, JsonObject } from "../../../core/json.ts";
import type { TurnPart } from "../../models/turn-parts.ts";
import type { ToolResult, Transcript } from "./transcript.ts";

/** The conversation as messages of blocks, which is the output format of agents files. */
export function toMessages({ history, opening, turns }: Transcript): readonly JsonObject[] {
  return [
    ...history.flatMap(({ user, agent }) => [
      toMessage("user", [toText(user)]),
      toMessage("assistant", [toText(agent)]),
    ]),
    toMessage("user", opening.map(toText)),
    ...turns.flatMap(({ said, results, objection }) => {
      const answers = [...results.map(toResultBlock), ...(objection === undefined ? [] : [toText(objection)])];
      const answered = answers.length === 0 ? [] : [toMessage("user", answers)];
      return [toMessage("assistant", toBlocks(said.parts)), ...answered];
    }),
  ];
}

/** Texts that follow each other are one: a provider that cites its sources cuts a sentence into many. */
export function toBlocks(parts: readonly TurnPart[]): readonly JsonObject[] {
  const blocks: JsonObject[] = [];
  let text: string | undefined;
  const flush = () => {
    if (text !== undefined) blocks.push(toText(text));
    text = undefined;
  };
  for (const part of parts) {
    if (part.type === "text") text = (text ?? "") + part.text;
    else flush();
    blocks.push(...toBlock(part));
  }
  flush();
  return blocks;
}

/** Nothing for what is not told as a block of its own. */
function toBlock(part: TurnPart): readonly JsonObject[] {
  switch (part.type) {
    case "thinking":
      return [{ type: "thinking", thinking: part.text }];
    case "call":
      return [
        { type: part.isProviders ? "server_tool_use" : "tool_use", id: part.id, name: part.name, input: part.input },
      ];
    case "result":
      return [{ type: "tool_result", tool_use_id: part.id, content: part.result, is_error: part.isError }];
    case "text":
    case "custom":
      return [];
  }
}

function toResultBlock({ call, text, isError }: ToolResult): JsonObject {
  return { type: "tool_result", tool_use_id: call.id, content: text, is_error: isError };
}

function toText(text: string): JsonObject {
  return { type: "text", text };
}

function toMessage(role: "user" | "assistant", content: readonly Json[]): JsonObject {
  return { role, content };
}

/** The first text block of a turn, after the last call of a provider's own tool: earlier text announces a search. Undefined: there is none. */
export function finalText(parts: readonly TurnPart[]): string | undefined {
  const lastTool = parts.findLastIndex(({ type }) => type === "call" || type === "result");
  const isText = (block: { readonly [key: string]: unknown }) => block["type"] === "text";
  const block = toBlocks(parts.slice(lastTool + 1)).find(isText) ?? toBlocks(parts).find(isText);
  return typeof block?.["text"] === "string" ? block["text"] : undefined;
}
