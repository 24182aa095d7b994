import type { Json, JsonObject } from "../../../src/core/json.ts";

/** What a scripted model does with one request, whichever API it came by. */
export type ModelReply =
  | SaidReply
  /** An error in the provider's own shape. */
  | {
      readonly do: "refuse";
      readonly status: number;
      readonly message?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** 200 with whatever this is. */
  | { readonly do: "send"; readonly body: string }
  /** The connection breaks without an answer. */
  | { readonly do: "cut" }
  /** Silence until the client leaves. */
  | { readonly do: "hang" };

export interface SaidReply {
  readonly do: "say";
  readonly text: string;
  readonly ended?: "stop" | "length" | "filter";
  /** `input` is the whole, what was cached included. Absent: a few. */
  readonly usage?: { readonly input: number; readonly output: number; readonly cached?: number };
}

export type ModelApi = "anthropic" | "chat" | "responses" | "google";

export interface ModelRequest {
  readonly api: ModelApi;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: JsonObject;
  readonly model: string;
  /** True: the client left before it was answered. */
  readonly isAbandoned: Promise<boolean>;
}

/** How one API says things: as one document, and as the events of a stream. */
export interface ApiWords {
  toDocument(reply: SaidReply, request: ModelRequest): JsonObject;
  toEvents(reply: SaidReply, request: ModelRequest): readonly StreamEvent[];
  toError(status: number, message: string): JsonObject;
}

export interface StreamEvent {
  readonly event?: string;
  readonly data: Json;
}

export function usageOf({ usage }: SaidReply): {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
} {
  return { input: 20, output: 10, cached: 0, ...usage };
}

/** A text in two pieces, as it comes over a stream. */
export function inPieces(text: string): readonly string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((piece) => piece !== "");
}
