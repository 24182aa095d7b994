import { isJsonObject, type Json } from "../../../../core/json.ts";

const MAX_CHARS = 200;

/**
 * What an agent does by one of its events: the tool that it calls, or the end of what it says. `before`: what it did until
 * then, which a piece of text goes on with. Undefined: the event says nothing of it.
 */
export function readDoing(event: Json, before: string | undefined): string | undefined {
  if (!isJsonObject(event)) return undefined;
  const { type, name, text, message } = event;
  if (type === "tool_call" && typeof name === "string") return toCall(name);
  if (type === "text" && typeof text === "string")
    return endOf(before?.startsWith(CALLS) === false ? before + text : text);
  if (type !== "assistant" || !isJsonObject(message) || !Array.isArray(message["content"])) return undefined;
  const blocks: readonly Json[] = message["content"];
  return blocks.map(readBlock).findLast((doing) => doing !== undefined);
}

const CALLS = "calls ";

function toCall(name: string): string {
  return `${CALLS}${name}`;
}

function readBlock(block: Json): string | undefined {
  if (!isJsonObject(block)) return undefined;
  const { type, name, text } = block;
  if (type === "tool_use" && typeof name === "string") return toCall(name);
  return type === "text" && typeof text === "string" && text.trim() !== "" ? endOf(text) : undefined;
}

function endOf(text: string): string {
  return text.slice(-MAX_CHARS);
}
