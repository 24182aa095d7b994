import type { Style } from "./paint.ts";
import type { Segment } from "./text-width.ts";

/** A status at a glance: one column wide, and told apart without colour. */
export function statusSign(status: string): Segment {
  return SIGNS.get(status) ?? { text: "·", style: "dim" };
}

export function statusStyle(status: string): Style {
  return SIGNS.get(status)?.style ?? "dim";
}

const SIGNS: ReadonlyMap<string, Segment> = new Map([
  ["queued", { text: "·", style: "dim" }],
  ["pending", { text: "·", style: "dim" }],
  ["running", { text: "●", style: "cyan" }],
  ["retrying", { text: "↻", style: "yellow" }],
  ["waiting", { text: "◷", style: "yellow" }],
  ["awaiting_approval", { text: "?", style: "magenta" }],
  ["held", { text: "◷", style: "red" }],
  ["completed", { text: "✓", style: "green" }],
  ["partial", { text: "◐", style: "yellow" }],
  ["failed", { text: "✗", style: "red" }],
  ["budget_exceeded", { text: "✗", style: "red" }],
  ["skipped", { text: "-", style: "dim" }],
  ["cancelled", { text: "⊘", style: "yellow" }],
  ["parked", { text: "◷", style: "yellow" }],
]);
