import { Fragment, jsx as make, jsxs as makeMany } from "react/jsx-runtime";

/** Turn the reading direction, so that a text says something else than it shows. */
const DIRECTIONS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** What stands in a place of a sign that turns the reading direction. */
export function showDirections(text: string): string {
  return text.replace(DIRECTIONS, (sign) => `⟨U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

/** What is shown on hover, or read aloud. */
const READ = ["title", "aria-label", "placeholder", "alt"];

type Make = typeof make;

/**
 * What JSX compiles to in these pages (`vite.config.ts`): every text of every view comes by here, so that none has to remember that
 * names, messages and outputs are written by others. What is copied, sent or edited stays as it is.
 */
function showing(through: Make): Make {
  return (type, props, key) => through(type, typeof type === "string" ? shown(props) : props, key);
}

function shown(props: unknown): object {
  const given = props as Readonly<Record<string, unknown>>;
  const changed: Record<string, unknown> = {};
  for (const name of [...READ, "children"]) {
    const before = given[name];
    const after = shownText(before);
    if (after !== before) changed[name] = after;
  }
  return { ...given, ...changed };
}

function shownText(value: unknown): unknown {
  if (typeof value === "string") return showDirections(value);
  return Array.isArray(value) && value.some((each) => typeof each === "string") ? value.map(shownText) : value;
}

export { Fragment };
export const jsx = showing(make);
export const jsxs = showing(makeMany);
