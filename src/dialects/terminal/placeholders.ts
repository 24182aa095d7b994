import type { Json } from "../../core/json.ts";

/** A text in parts: as written, or the name in `{name}`. */
export type TextPiece = string | { readonly name: string; readonly written: string };

const PLACEHOLDER = /\{((?:env\.)?[A-Za-z_][A-Za-z0-9_-]*)\}/g;

export function splitText(text: string): readonly TextPiece[] {
  const pieces: TextPiece[] = [];
  let end = 0;
  for (const match of text.matchAll(PLACEHOLDER)) {
    const [written, name = ""] = match;
    if (match.index > end) pieces.push(text.slice(end, match.index));
    pieces.push({ name, written });
    end = match.index + written.length;
  }
  if (end < text.length || pieces.length === 0) pieces.push(text.slice(end));
  return pieces;
}

/** Names in every text that a value holds; keys are no texts. */
export function namesIn(value: Json, names: Set<string> = new Set()): Set<string> {
  if (typeof value === "string") {
    for (const piece of splitText(value)) if (typeof piece !== "string") names.add(piece.name);
  } else if (typeof value === "object" && value !== null) {
    for (const inner of Object.values(value) as readonly Json[]) namesIn(inner, names);
  }
  return names;
}

const ENV = "env.";

/** The environment variable that a placeholder means. */
export function envNameOf(name: string): string | undefined {
  return name.startsWith(ENV) ? name.slice(ENV.length) : undefined;
}
