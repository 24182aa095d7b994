import { Composer, type CST, Parser } from "yaml";
import type { ProblemList } from "../problem-list.ts";
import type { YamlNode } from "./yaml-node.ts";
import { findTooDeep, reportYamlSyntax } from "./yaml-syntax.ts";
import { buildYamlTree } from "./yaml-tree.ts";

/**
 * Reads YAML 1.2 (and so JSON) into a tree that knows its places. Merge keys (`<<`) work as in YAML 1.1.
 * Undefined after a syntax error, for what a parser makes of the rest would only raise further, false problems.
 */
export function readYaml(
  problems: ProblemList,
  { maxMb = 1, what = "definition" }: { readonly maxMb?: number; readonly what?: string } = {},
): YamlNode | undefined {
  const { text } = problems.source;
  if (isTooLarge(text, maxMb * 1_048_576)) {
    problems.error({ code: "TOO_LARGE", at: { start: 0, end: 0 }, message: `The ${what} is larger than ${maxMb} MB.` });
    return undefined;
  }
  reportWrongEncoding(problems);
  const tokens = [...new Parser().parse(text)];
  const tooDeep = findTooDeep(tokens, MAX_DEPTH);
  if (tooDeep !== undefined) {
    const at = { start: tooDeep, end: tooDeep + 1 };
    const message = `The text is nested deeper than ${MAX_DEPTH} levels.`;
    problems.error({ code: "YAML_SYNTAX", at, message, remedy: "Nest less deeply." });
    return undefined;
  }
  return composeTree(tokens, problems);
}

const MAX_DEPTH = 100;

function isTooLarge(text: string, maxBytes: number): boolean {
  if (text.length > maxBytes) return true;
  return text.length * 3 > maxBytes && new TextEncoder().encode(text).length > maxBytes;
}

function composeTree(tokens: readonly CST.Token[], problems: ProblemList): YamlNode | undefined {
  // The parser's own search for duplicate keys is quadratic; the tree finds them as well.
  const composer = new Composer({ uniqueKeys: false, logLevel: "silent", intAsBigInt: true });
  const [document, second] = [...composer.compose(tokens, true, problems.source.text.length)];
  if (document === undefined) return undefined;
  reportYamlSyntax({ tokens, document }, problems);
  if (second !== undefined) {
    const at = { start: second.range[0], end: second.range[0] + 3 };
    const message = "A second YAML document begins here.";
    problems.error({ code: "YAML_SYNTAX", at, message, remedy: "Write one definition per file." });
  }
  return problems.hasErrors ? undefined : buildYamlTree(document, problems);
}

/** The character that a decoder puts where bytes are no UTF-8. */
const REPLACEMENT = "\uFFFD";

/** Warns of the first place only: all of the file has the same encoding. */
export function reportWrongEncoding(problems: ProblemList): void {
  const { text } = problems.source;
  const start = text.indexOf(REPLACEMENT);
  if (start === -1) return;
  let end = start;
  while (text[end] === REPLACEMENT) end += 1;
  problems.warning({ code: "FILE_NOT_TEXT", at: { start, end }, message: "The text is not valid UTF-8 here." });
}
