import type { PolicyPattern, PolicyTrigger } from "../graph/policy.ts";
import { findBuiltIn } from "./built-in-patterns.ts";
import type { Found } from "./found.ts";

/** Everything that a regular expression matches. Undefined: it cannot be searched for in a text this long. */
export type FindAll = (text: string, pattern: string) => readonly Found[] | undefined;

export interface FoundKind extends Found {
  /** The name as people read it. */
  readonly kind: string;
}

/** The matches of a trigger in one text, in order, without overlaps. Undefined: the text cannot be searched. */
export function findInText(
  { patterns = [], contains = [] }: PolicyTrigger,
  text: string,
  findAll: FindAll,
): readonly FoundKind[] | undefined {
  const found: FoundKind[] = [];
  for (const pattern of patterns) {
    const places = placesOf(pattern, text, findAll);
    if (places === undefined) return undefined;
    const kind = pattern.kind === "regex" ? pattern.name : pattern.kind;
    for (const place of places) if (place.end > place.start) found.push({ ...place, kind });
  }
  for (const part of contains) found.push(...findPart(text, part));
  return withoutOverlaps(found);
}

export function replaceFound(text: string, found: readonly FoundKind[], replacement: string | undefined): string {
  let replaced = "";
  let from = 0;
  for (const { start, end, kind } of found) {
    replaced += text.slice(from, start) + (replacement ?? `[${kind}]`);
    from = end;
  }
  return replaced + text.slice(from);
}

function placesOf(pattern: PolicyPattern, text: string, findAll: FindAll): readonly Found[] | undefined {
  return pattern.kind === "regex" ? findAll(text, pattern.pattern) : findBuiltIn(pattern.kind, text);
}

function findPart(text: string, part: string): readonly FoundKind[] {
  const [low, wanted] = [text.toLowerCase(), part.toLowerCase()];
  // Letters whose small form is longer would move what comes after them: then their own case is searched for.
  const [place, sought] = low.length === text.length ? [low, wanted] : [text, part];
  const found: FoundKind[] = [];
  for (let at = place.indexOf(sought); at !== -1; at = place.indexOf(sought, at + sought.length)) {
    found.push({ start: at, end: at + sought.length, kind: "text" });
  }
  return found;
}

/** Overlapping matches become one: nothing of either may stay. */
function withoutOverlaps(found: readonly FoundKind[]): readonly FoundKind[] {
  const kept: FoundKind[] = [];
  for (const next of found.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = kept.at(-1);
    if (last === undefined || next.start >= last.end) kept.push(next);
    else if (next.end > last.end) kept[kept.length - 1] = { ...last, end: next.end };
  }
  return kept;
}
