import { parseExact, writeExact } from "../../../src/core/exact-json.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import type { Shown } from "./shown.ts";

/** What a scripted model does with one request, whichever API it came by. */
export type ModelReply = ModelAct & {
  /** How long it is silent first. */
  readonly delayMs?: number;
};

type ModelAct =
  | SaidReply
  | RefusedReply
  /** 200 with whatever this is. */
  | { readonly do: "send"; readonly body: string }
  /** The connection breaks without an answer. */
  | { readonly do: "cut" }
  /** The connection breaks, and nobody listens for so long; then the same port answers again. */
  | { readonly do: "leave"; readonly ms: number }
  /** Silence until the client leaves. */
  | { readonly do: "hang" };

export interface SaidReply {
  readonly do: "say";
  /** Absent: tools are called without a word. */
  readonly text?: string;
  /** In parallel where there are several. */
  readonly calls?: readonly SaidCall[];
  /** Thoughts before anything is said. The API wants them back. */
  readonly thinking?: string;
  /** The provider's own search of the web, before anything is said (Anthropic, OpenAI's Responses). */
  readonly search?: SaidSearch;
  /** Absent: `stop`, or `tools` where tools are called. */
  readonly ended?: Ended;
  /** The API's own word for how it ended, in the place of `ended`. Null: none. */
  readonly reason?: string | null;
  /** `input` is the whole, what was cached included. Absent: a few. `untold`: the answer says nothing of it. */
  readonly usage?: { readonly input: number; readonly output: number; readonly cached?: number } | "untold";
  /** Changes each document and each event before it is sent. */
  readonly reshape?: (data: JsonObject) => Json;
  /** Of a stream: how long between two events. */
  readonly gapMs?: number;
  /** Of a stream: what goes wrong in it. */
  readonly breaks?: StreamBreak;
}

/** `pause`: Anthropic goes on when it gets the turn back. `full`: the conversation fills the context. */
export type Ended = "stop" | "tools" | "length" | "filter" | "pause" | "full";

interface SaidCall {
  readonly name: string;
  readonly input?: JsonObject;
  /** The arguments as they are sent, instead of `input`: they need not be JSON. */
  readonly json?: string;
  /** Absent: one that no other call has. */
  readonly id?: string;
}

export interface SaidSearch {
  readonly query: string;
  readonly found: readonly { readonly url: string; readonly title: string }[];
}

/**
 * After so many events: half of the next one and the end of the connection, the end of a stream that looks proper, an event
 * that is no JSON, or the provider's own error event.
 */
interface StreamBreak {
  readonly after: number;
  readonly how: "cut" | "end" | "garble" | "error";
}

export interface RefusedReply {
  /** An error in the provider's own shape. */
  readonly do: "refuse";
  readonly status: number;
  readonly message?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export type ModelApi = "anthropic" | "chat" | "responses" | "google";

export interface ModelRequest {
  readonly api: ModelApi;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: JsonObject;
  readonly model: string;
  readonly isStream: boolean;
  /** What the model gets to see, the same for every API. */
  readonly shown: Shown;
  /** True: the client left before it was answered. */
  readonly isAbandoned: Promise<boolean>;
}

/** How one API says things: as one document, and as the events of a stream. */
export interface ApiWords {
  toShown(body: JsonObject): Shown;
  toDocument(said: Utterance, request: ModelRequest): JsonObject;
  toEvents(said: Utterance, request: ModelRequest): readonly StreamEvent[];
  toError(status: number, message: string): JsonObject;
  /** How a stream says that something went wrong after it had begun. */
  toErrorEvent(message: string): StreamEvent;
}

export interface StreamEvent {
  readonly event?: string;
  readonly data: Json;
}

/** What is said, with nothing left out. */
export interface Utterance {
  readonly text: string;
  readonly thinking?: string | undefined;
  readonly search?: SaidSearch | undefined;
  readonly calls: readonly UtteredCall[];
  readonly ended: Ended;
  /** The API's own word, in the place of `ended`. */
  readonly reason: string | null | undefined;
  /** Undefined: it is not told. */
  readonly usage: { readonly input: number; readonly output: number; readonly cached: number } | undefined;
}

export interface UtteredCall {
  readonly id: string;
  readonly name: string;
  readonly json: string;
}

/** `index` is that of the request. */
export function toUtterance(reply: SaidReply, index: number): Utterance {
  const { text = "", thinking, search, calls = [], ended, reason, usage } = reply;
  return {
    text,
    thinking,
    search,
    calls: calls.map(({ name, input = {}, json, id }, nth) => ({
      id: id ?? `call_${index + 1}_${nth + 1}`,
      name,
      json: json ?? writeExact(input),
    })),
    ended: ended ?? (calls.length > 0 ? "tools" : "stop"),
    reason,
    usage: usage === "untold" ? undefined : { input: 20, output: 10, cached: 0, ...usage },
  };
}

/** A text in two pieces, as it comes over a stream. */
export function inPieces(text: string): readonly string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((piece) => piece !== "");
}

/** Arguments where the API sends them as a value; what is no JSON stays a text. */
export function parsedArguments({ json }: UtteredCall): Json {
  try {
    return parseExact(json) as Json;
  } catch {
    return json;
  }
}
