import type { ProblemList } from "../../problem-list.ts";
import type { Text } from "../../shape/shape.ts";
import { toExcerpt } from "../../source/printable.ts";
import type { Range, SourceText } from "../../source/source-text.ts";
import { correctReference, parseReference, type Reference } from "./reference.ts";

/** A text with slots for values. */
export interface Template {
  readonly parts: readonly (string | Slot)[];
}

export interface Slot extends Range {
  readonly reference: Reference;
  /** With its braces: it stays in the text where the value does not exist. */
  readonly written: string;
}

export interface TemplateContext {
  readonly problems: ProblemList;
  /** Environment variables that prompts may read. */
  readonly envAllowed: ReadonlySet<string>;
}

/** Finds the references in a text. Braces with anything else inside, such as JSON examples, stay as they are. */
export function parseTemplate(text: Text, context: TemplateContext): Template {
  const parts: (string | Slot)[] = [];
  let textFrom = 0;
  let searchFrom = text.at.start;
  for (const found of text.value.matchAll(BRACES)) {
    const written = found[0];
    const at = locate(written, { start: searchFrom, end: text.at.end }, context.problems.source) ?? text.at;
    if (at !== text.at) searchFrom = at.end;
    const reference = readBraces(found, at, context);
    if (reference === undefined) continue;
    // `${input.price}` is a dollar sign and a price.
    const slot = reference.to === "env" ? written : written.replace(/^\$/, "");
    const from = found.index + written.length - slot.length;
    if (from > textFrom) parts.push(text.value.slice(textFrom, from));
    parts.push({ reference, written: slot, start: at.end - slot.length, end: at.end });
    textFrom = found.index + written.length;
  }
  if (textFrom < text.value.length) parts.push(text.value.slice(textFrom));
  return { parts };
}

export function slotsOf(template: Template): readonly Slot[] {
  return template.parts.filter((part) => typeof part !== "string");
}

const BRACES = /\$?\{([^{}\n]{1,300})\}/g;
const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

// A reference has no escapes, so that it stands in the source letter by letter, whatever the quotes or the indentation.
function locate(written: string, within: Range, source: SourceText): Range | undefined {
  const start = source.text.indexOf(written, within.start);
  return start === -1 || start >= within.end ? undefined : { start, end: start + written.length };
}

function readBraces(
  [written, inner = ""]: RegExpMatchArray,
  at: Range,
  context: TemplateContext,
): Reference | undefined {
  const reference = parseReference(inner);
  if (reference !== undefined) return reference;
  if (written.startsWith("$") && ENV_NAME.test(inner)) return readVariable(inner, at, context);
  const corrected = correctReference(inner);
  if (corrected !== undefined) {
    const message = `\`${toExcerpt(written)}\` names nothing and stays in the text as it is.`;
    const finding = { code: "EXPRESSION_INVALID", at, message, remedy: `Did you mean \`{${corrected}}\`?` } as const;
    // With blanks around it the text may be an example of another language.
    if (inner.trim() === inner) context.problems.slip(finding);
    else context.problems.warning(finding);
  }
  return undefined;
}

function readVariable(name: string, at: Range, context: TemplateContext): Reference | undefined {
  if (context.envAllowed.has(name)) return { to: "env", name };
  const message = `\`\${${name}}\` stays in the text as it is: \`env.allow\` does not list ${name}.`;
  context.problems.warning({ code: "ENV_NOT_ALLOWED", at, message });
  return undefined;
}
