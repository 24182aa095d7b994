import { filters } from "./filters/filters.ts";
import { Meter } from "./meter.ts";
import { Expressions } from "./render/expressions.ts";
import { globals } from "./render/globals.ts";
import { InputNames, Scope } from "./render/scope.ts";
import { Statements } from "./render/statements.ts";
import type { Template } from "./syntax/nodes.ts";
import { StatementParser } from "./syntax/statement-parser.ts";
import { TokenReader } from "./syntax/token-reader.ts";
import { normalizeNewlines, tokenize } from "./syntax/tokenize.ts";
import { TemplateError, type TemplateFault } from "./template-error.ts";
import { tests } from "./tests.ts";
import type { Input } from "./values/from-json.ts";

export type { Template } from "./syntax/nodes.ts";
// biome-ignore lint/performance/noBarrelFile: This is what the package exports.
export { type MissingValue, TemplateError, type TemplateFault } from "./template-error.ts";
export type { Input } from "./values/from-json.ts";

export interface RenderOptions {
  /** A value that is missing is an error wherever it is used, but for `is defined` and `default`. Default: false. */
  readonly isStrict?: boolean;
  /** What the template may do: see `Meter`. Default: 1,000,000, which take about a third of a second at worst. */
  readonly steps?: number;
  /** Characters of the text that comes out. Default: 8,000,000. */
  readonly maxLength?: number;
  /** From 0 to 1, for the filter `random`. Default: `Math.random`. */
  readonly random?: () => number;
}

/** Reads a template. Throws a `TemplateError` with the place of the first mistake. */
export function readTemplate(text: string): Template {
  const source = normalizeNewlines(text);
  const tokens = new TokenReader(tokenize(source));
  try {
    return new StatementParser(tokens, { filters, tests }).parseTemplate(source);
  } catch (error) {
    if (error instanceof RangeError) throw tokens.error("it is nested too deeply");
    throw error;
  }
}

/** The names that the template reads and that neither these names nor the language fill. Those that it tests first may be missing. */
export function findUnfilled({ reads, source }: Template, given: readonly string[]): readonly UnfilledName[] {
  const unfilled = [...reads].filter(([name]) => !given.includes(name) && !globals.has(name));
  return unfilled.map(([name, at]) => {
    const error = new TemplateError("undefined", `nothing fills \`${name}\``, { at, length: name.length });
    return { name, fault: error.toFault(source) };
  });
}

export interface UnfilledName {
  readonly name: string;
  readonly fault: TemplateFault;
}

/**
 * Renders a template as Jinja2 3.1 does, in bounded time and memory. What is put in is never expanded again. Throws a
 * `TemplateError` with the place.
 */
export function renderTemplate(
  template: Template,
  input: { readonly [name: string]: Input },
  { isStrict = false, steps = 1_000_000, maxLength = 8_000_000, random = Math.random }: RenderOptions = {},
): string {
  const root = new InputNames(input, globals);
  const expressions = new Expressions({ meter: new Meter(steps), isStrict, random, names: root.names });
  try {
    return new Statements(template, expressions, new Scope(root), maxLength).render();
  } catch (error) {
    throw placed(error, expressions.at);
  }
}

function placed(error: unknown, at: number): unknown {
  if (error instanceof RangeError)
    return new TemplateError("limit", "it needs more memory than it may have, or is nested too deeply", { at });
  if (!(error instanceof TemplateError) || error.at !== undefined) return error;
  return new TemplateError(error.kind, error.message, { at, missing: error.missing });
}
