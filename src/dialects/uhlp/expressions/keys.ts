import type { Span } from "./expression-fault.ts";

/** A step of a path that is written out, with its place. */
export interface Key extends Span {
  readonly key: string | number;
}

/** Digits are an index, as after a dot in `items.0`. */
export function toKey(text: string): string | number {
  return /^(0|[1-9][0-9]{0,8})$/.test(text) ? Number(text) : text;
}

export function toPath(keys: readonly Key[]): readonly (string | number)[] {
  return keys.map(({ key }) => key);
}
