import type { Paint } from "./paint.ts";

export interface PageOptions {
  readonly paint: Paint;
  readonly now: number;
  /** Columns of the terminal; absent where the text goes elsewhere. */
  readonly width?: number | undefined;
}
