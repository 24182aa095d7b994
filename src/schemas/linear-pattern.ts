import { createRequire } from "node:module";
import type { RE2JS } from "re2js";
import { MAX_PATTERN_SIZE } from "../core/expressions/expr.ts";

/** A `pattern` of a JSON Schema. Its time is linear in the text, for any pattern. */
export interface LinearPattern {
  test(text: string): boolean;
  /** Instructions: what one character of a text may cost. */
  readonly size: number;
}

/** Why a pattern cannot be used. */
export class PatternFault extends Error {}

const MAX_CHARS = 10_000;

/**
 * Compiles a pattern of JavaScript for RE2, which never goes back in the text. Looking ahead is possible directly behind
 * the first `^`, where it asks the same text for more than one thing. Throws `PatternFault`.
 */
export function compilePattern(pattern: string): LinearPattern {
  if (pattern.length > MAX_CHARS) throw new PatternFault(`it is longer than ${MAX_CHARS} characters`);
  checkSyntax(pattern);
  const { ahead, rest } = splitLookaheads(pattern);
  const tests = [...ahead, { regex: compile(rest), isWanted: true }];
  const size = tests.reduce((sum, { regex }) => sum + regex.programSize(), 0);
  if (size > MAX_PATTERN_SIZE) throw new PatternFault("its repetitions are too many");
  return { size, test: (text) => tests.every(({ regex, isWanted }) => regex.test(text) === isWanted) };
}

interface Ahead {
  readonly regex: RE2JS;
  readonly isWanted: boolean;
}

/** `^(?=A)(?!B)C` fits where `^A` and `^C` do and `^B` does not. */
function splitLookaheads(pattern: string): { readonly ahead: readonly Ahead[]; readonly rest: string } {
  const ahead: Ahead[] = [];
  let rest = pattern;
  for (let found = LOOKAHEAD.exec(rest); found !== null; found = LOOKAHEAD.exec(rest)) {
    const end = findEnd(rest, found[0].length);
    if (end === undefined) break;
    ahead.push({ regex: compile(`^(?:${rest.slice(found[0].length, end)})`), isWanted: found[1] === "=" });
    rest = `^${rest.slice(end + 1)}`;
  }
  // `^(?=A)B|C` does not ask for A in front of C.
  return ahead.length > 0 && findEnd(rest, 0, "|") !== undefined ? { ahead: [], rest: pattern } : { ahead, rest };
}

const LOOKAHEAD = /^\^\(\?([=!])/;

/** Where a group ends whose first character is given, or where a `|` stands that is in no group. */
function findEnd(pattern: string, start: number, wanted = ")"): number | undefined {
  let depth = 0;
  let isInClass = false;
  for (let at = start; at < pattern.length; at += 1) {
    const letter = pattern[at];
    if (letter === "\\") at += 1;
    else if (isInClass) isInClass = letter !== "]";
    else if (depth === 0 && letter === wanted) return at;
    else if (letter === "[") isInClass = true;
    else if (letter === "(") depth += 1;
    else if (letter === ")") depth -= 1;
  }
  return undefined;
}

function checkSyntax(pattern: string): void {
  try {
    new RegExp(pattern, "u");
  } catch (error) {
    throw new PatternFault(error instanceof Error ? error.message : String(error));
  }
}

function compile(pattern: string): RE2JS {
  // Loaded with the first pattern, which cannot wait for an import.
  const { RE2JS, RE2JSException } = createRequire(import.meta.url)("re2js") as typeof import("re2js");
  const construct = CONSTRUCTS.find(([form]) => form.test(pattern))?.[1];
  try {
    // The translation would take a name that is referred to for a text.
    if (construct !== "a back reference")
      return RE2JS.compile(
        RE2JS.translateRegExp(pattern.replaceAll(/\\([pP])\{(?:Script|sc|gc|General_Category)=/g, "\\$1{")),
      );
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    if (construct === undefined) throw new PatternFault(error.message.replace("error parsing regexp: ", ""));
  }
  throw new PatternFault(`${construct} takes more than linear time. Only the syntax of RE2 is understood`);
}

/** What a backslash stands before is none of these. */
const CONSTRUCTS = [
  [/(?<!\\)(?:\\\\)*\(\?<[=!]/, "looking behind"],
  [/(?<!\\)(?:\\\\)*\(\?[=!]/, "looking ahead"],
  [/(?<!\\)(?:\\\\)*\\(?:[1-9]|k<)/, "a back reference"],
] as const;
