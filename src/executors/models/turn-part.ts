import type { Json, JsonObject } from "../../core/json.ts";

/** A piece of what a model says in one turn: plain JSON, so that it can be kept and said to the model again. */
export type TurnPart =
  | (WithMetadata & { readonly type: "text"; readonly text: string })
  | (WithMetadata & { readonly type: "thinking"; readonly text: string })
  | ToolCallPart
  /** What a tool of the provider's own has answered. */
  | (WithMetadata & {
      readonly type: "result";
      readonly id: string;
      readonly name: string;
      readonly result: Json;
      readonly isError: boolean;
    })
  /** Of one provider only, and meant for it alone. */
  | (WithMetadata & { readonly type: "custom"; readonly kind: string });

export type ToolCallPart = WithMetadata & {
  readonly type: "call";
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
  /** Which tool was meant when it was said: a name may mean another one later, when servers have come or gone. */
  readonly target?: string;
  /** What came instead of an object of arguments. */
  readonly unreadable?: string;
  /** The provider calls the tool itself. */
  readonly isProviders: boolean;
};

type WithMetadata = {
  /** What the provider wants to get back with it, for instance the signature of a thought. */
  readonly metadata?: JsonObject;
};
