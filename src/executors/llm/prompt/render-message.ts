import type { JsonObject } from "../../../core/json.ts";

/** The request to the thread that renders. */
export interface RenderRequest {
  readonly template: string;
  readonly input: JsonObject;
}

/** Its answer. */
export type RenderReply =
  | {
      readonly type: "rendered";
      readonly text: string;
      /** Filters that a missing value reached; the engine takes it for an empty one there. */
      readonly lostIn: readonly string[];
    }
  /** The template is wrong; the engine's own words. */
  | { readonly type: "fault"; readonly error: string }
  | { readonly type: "tooLarge"; readonly length: number }
  /** The engine broke down, out of memory or stack, and cannot be used again. */
  | { readonly type: "broken" };
