import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { parseJson } from "../../core/parse-json.ts";
import type { StreamPart } from "./language-model.ts";
import type { TurnPart } from "./turn-part.ts";

/** Puts the pieces of a stream together. */
export class PartCollector {
  /** Blocks by the provider's id, in the order in which they began; the same id may come again once its block has ended. */
  readonly #slots: (TurnPart | OpenBlock)[] = [];
  readonly #open = new Map<string, OpenBlock>();

  add(part: StreamPart): void {
    switch (part.type) {
      case "text-start":
      case "reasoning-start":
        return this.#begin(part.type === "text-start" ? "text" : "thinking", part);
      case "text-delta":
      case "reasoning-delta":
        return this.#extend(part.type === "text-delta" ? "text" : "thinking", part);
      case "text-end":
      case "reasoning-end":
        return this.#end(part.type === "text-end" ? "text" : "thinking", part);
      case "tool-call":
        this.#slots.push(toCall(part));
        return;
      case "tool-result":
        if (part.preliminary === true) return;
        this.#slots.push({
          type: "result",
          id: part.toolCallId,
          name: part.toolName,
          // It came as JSON.
          result: part.result as Json,
          isError: part.isError === true,
          ...metadataOf(part),
        });
        return;
      case "custom":
        this.#slots.push({ type: "custom", kind: part.kind, ...metadataOf(part) });
        return;
      // Sources stand in the text; files are nothing that we ask for; the rest is about the stream.
      default:
    }
  }

  /** Empty texts are left out: providers refuse to get them back. Thoughts may be empty, and signed. */
  get parts(): readonly TurnPart[] {
    return this.#slots
      .map((slot): TurnPart => ("isOpen" in slot ? { type: slot.type, text: slot.text, ...slot.metadata } : slot))
      .filter((part) => part.type !== "text" || part.text !== "");
  }

  #begin(type: OpenBlock["type"], part: { id: string; providerMetadata?: unknown }): void {
    const block: OpenBlock = { isOpen: true, type, text: "", metadata: metadataOf(part) };
    this.#open.set(`${type} ${part.id}`, block);
    this.#slots.push(block);
  }

  #extend(type: OpenBlock["type"], part: { id: string; delta: string; providerMetadata?: unknown }): void {
    const key = `${type} ${part.id}`;
    if (!this.#open.has(key)) this.#begin(type, part);
    const block = this.#open.get(key);
    if (block === undefined) return;
    block.text += part.delta;
    if (part.providerMetadata !== undefined) block.metadata = metadataOf(part);
  }

  #end(type: OpenBlock["type"], part: { id: string; providerMetadata?: unknown }): void {
    const key = `${type} ${part.id}`;
    const block = this.#open.get(key);
    if (block !== undefined && part.providerMetadata !== undefined) block.metadata = metadataOf(part);
    this.#open.delete(key);
  }
}

interface OpenBlock {
  readonly isOpen: true;
  readonly type: "text" | "thinking";
  text: string;
  metadata: { readonly metadata?: JsonObject };
}

function toCall(part: StreamPart & { type: "tool-call" }): TurnPart {
  const input = part.input.trim() === "" ? {} : parseJson(part.input);
  return {
    type: "call",
    id: part.toolCallId,
    name: part.toolName,
    input: isJsonObject(input) ? input : {},
    ...(isJsonObject(input) ? {} : { unreadable: part.input }),
    isProviders: part.providerExecuted === true,
    ...metadataOf(part),
  };
}

/** Through JSON: it is kept, and may hold what JSON has no word for. */
function metadataOf({ providerMetadata }: { providerMetadata?: unknown }): { readonly metadata?: JsonObject } {
  if (providerMetadata === undefined) return {};
  const metadata = JSON.parse(JSON.stringify(providerMetadata)) as Json;
  return isJsonObject(metadata) ? { metadata } : {};
}
