import { createRequire } from "node:module";
import type { RE2JS } from "re2js";
import { BoundedMap } from "../core/bounded-map.ts";
import { MAX_PATTERN_CHARS, MAX_PATTERN_SIZE, type Matches } from "../core/expressions/expr.ts";

const MAX_KEPT = 100;
/** Characters of the text times instructions of the pattern: less than two seconds of work. */
const MAX_WORK = 100_000_000;
/** So much of that is done in the time of one look at a part of an expression. */
const WORK_PER_LOOK = 6;

/** The regular expressions of definitions. Their time is linear in text and pattern. */
export class Regexes {
  readonly #compiled = new BoundedMap<string, RE2JS | undefined>(MAX_KEPT);

  /** Whether the pattern is found anywhere in the text. False for a pattern that is invalid. */
  matches(...[text, pattern, pay]: Parameters<Matches>): boolean {
    const regex = this.#compile(pattern);
    if (regex === undefined) return false;
    pay(Math.ceil((text.length * regex.programSize()) / WORK_PER_LOOK));
    return regex.matcher(text).find();
  }

  /** Every place where it is found. Undefined for a pattern that is invalid, and where it would take too long. */
  findAll(text: string, pattern: string): readonly { readonly start: number; readonly end: number }[] | undefined {
    const regex = this.#compile(pattern);
    if (regex === undefined || text.length * regex.programSize() > MAX_WORK) return undefined;
    const found: { start: number; end: number }[] = [];
    const matcher = regex.matcher(text);
    while (matcher.find()) found.push({ start: matcher.start(), end: matcher.end() });
    return found;
  }

  #compile(pattern: string): RE2JS | undefined {
    if (pattern.length > MAX_PATTERN_CHARS) return undefined;
    const isKnown = this.#compiled.has(pattern);
    const regex = isKnown ? this.#compiled.get(pattern) : this.#tryCompile(pattern);
    this.#compiled.set(pattern, regex);
    return regex;
  }

  #tryCompile(pattern: string): RE2JS | undefined {
    // Loaded with the first pattern: hardly any workflow has one, and the evaluator cannot wait for an import.
    const re2js = createRequire(import.meta.url)("re2js") as typeof import("re2js");
    try {
      const regex = re2js.RE2JS.compile(pattern);
      return regex.programSize() > MAX_PATTERN_SIZE ? undefined : regex;
    } catch {
      return undefined;
    }
  }
}
