import type { Template } from "./nodes.ts";
import type { KnownNames } from "./operand-parser.ts";
import { StatementParser } from "./statement-parser.ts";
import { TokenReader } from "./token-reader.ts";
import { normalizeNewlines, tokenize } from "./tokenize.ts";

/** Reads a template. Throws a `TemplateError` with the place of the first mistake. */
export function parseTemplate(text: string, known: KnownNames): Template {
  const source = normalizeNewlines(text);
  const tokens = new TokenReader(tokenize(source));
  try {
    return new StatementParser(tokens, known).parseTemplate(source);
  } catch (error) {
    if (error instanceof RangeError) throw tokens.error("it is nested too deeply");
    throw error;
  }
}
