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
  /** The provider's own search of the web, before anything is said (Anthropic, OpenAI's Responses). */
  readonly search?: SaidSearch;
  /** Absent: `stop`, or `tools` where tools are called. */
  readonly ended?: Ended;
  /** `input` is the whole, what was cached included. Absent: a few. */
  readonly usage?: { readonly input: number; readonly output: number; readonly cached?: number };
  /** Of a stream: how long between two events. */
  readonly gapMs?: number;
  /** Of a stream: what goes wrong in it. */
  readonly breaks?: StreamBreak;
}

export type Ended = "stop" | "tools" | "length" | "filter";

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

/** After so many events: half of the next one and the end of the connection, an event that is no JSON, or the provider's own error event. */
interface StreamBreak {
  readonly after: number;
  readonly how: "cut" | "garble" | "error";
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
  readonly search?: SaidSearch | undefined;
  readonly calls: readonly UtteredCall[];
  readonly ended: Ended;
  readonly usage: { readonly input: number; readonly output: number; readonly cached: number };
}

export interface UtteredCall {
  readonly id: string;
  readonly name: string;
  readonly json: string;
}

/** `index` is that of the request. */
export function toUtterance({ text = "", search, calls = [], ended, usage }: SaidReply, index: number): Utterance {
  return {
    text,
    search,
    calls: calls.map(({ name, input = {}, json, id }, nth) => ({
      id: id ?? `call_${index + 1}_${nth + 1}`,
      name,
      json: json ?? JSON.stringify(input),
    })),
    ended: ended ?? (calls.length > 0 ? "tools" : "stop"),
    usage: { input: 20, output: 10, cached: 0, ...usage },
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
    return JSON.parse(json) as Json;
  } catch {
    return json;
  }
}
