import { parseExact, writeExact } from "../../core/exact-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { unmark } from "../../core/long-integers.ts";
import { parseJson } from "../../core/parse-json.ts";
import type { GenerateResult, StreamPart } from "./language-model.ts";

/** Puts the parts of an answer together, and the pieces of a stream. */
export class PartCollector {
  /** Blocks by the provider's id, in the order in which they began; the same id may come again once its block has ended. */
  readonly #slots: (TurnPart | OpenBlock)[] = [];
  readonly #open = new Map<string, OpenBlock>();

  add(part: StreamPart | GenerateResult["content"][number]): void {
    switch (part.type) {
      case "text":
        this.#slots.push({ type: "text", text: part.text, ...metadataOf(part) });
        return;
      case "reasoning":
        this.#slots.push({ type: "thinking", text: part.text, ...metadataOf(part) });
        return;
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
  const input = part.input.trim() === "" ? {} : unmark(parseJson(part.input) ?? null);
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
  const metadata = parseExact(writeExact(providerMetadata));
  return isJsonObject(metadata) ? { metadata } : {};
}

/** A piece of what a model says in one turn: plain JSON, so that it can be kept and said to the model again. */
export type TurnPart =
  | (WithMetadata & { readonly type: "text"; readonly text: string })
  | (WithMetadata & { readonly type: "thinking"; readonly text: string })
  | ToolCallPart
  /** The answer of a tool that the provider itself runs. */
  | (WithMetadata & {
      readonly type: "result";
      readonly id: string;
      readonly name: string;
      readonly result: Json;
      readonly isError: boolean;
    })
  /** A part that only its own provider understands. */
  | (WithMetadata & { readonly type: "custom"; readonly kind: string });

export type ToolCallPart = WithMetadata & {
  readonly type: "call";
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
  /** The tool that the name meant at the time. The name may mean another one after servers have changed. */
  readonly target?: string;
  /** The arguments, if they are no JSON object. */
  readonly unreadable?: string;
  /** The provider calls the tool itself. */
  readonly isProviders: boolean;
};

type WithMetadata = {
  /** Data that the provider wants back with the part, for instance the signature of a thought. */
  readonly metadata?: JsonObject;
};
