import type { Json, JsonObject } from "../../core/json.ts";

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
