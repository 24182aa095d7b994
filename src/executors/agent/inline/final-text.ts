import type { TurnPart } from "../../models/turn-part.ts";
import { toBlocks } from "./to-blocks.ts";

/**
 * The first text block of a turn. Where the provider has called tools of its own in between, the first one after the last
 * of them: what stands before announces a search, and is no answer. Undefined: there is none.
 */
export function finalText(parts: readonly TurnPart[]): string | undefined {
  const lastTool = parts.findLastIndex(({ type }) => type === "call" || type === "result");
  const isText = (block: { readonly [key: string]: unknown }) => block["type"] === "text";
  const block = toBlocks(parts.slice(lastTool + 1)).find(isText) ?? toBlocks(parts).find(isText);
  return typeof block?.["text"] === "string" ? block["text"] : undefined;
}
