import type { CST, Document, YAMLError } from "yaml";
import type { Finding, ProblemList } from "../problem-list.ts";
import type { Range } from "./source-text.ts";
import { READ_AS_MAP } from "./yaml-node.ts";

interface ParsedYaml {
  readonly tokens: readonly CST.Token[];
  readonly document: Document.Parsed;
}

/** Reports what the parser complained of, at the place of the mistake rather than where the parser noticed it. */
export function reportYamlSyntax({ tokens, document }: ParsedYaml, problems: ProblemList): void {
  const { source } = problems;
  let lastLine = 0;
  for (const error of document.errors.slice(0, MAX_SYNTAX_ERRORS)) {
    const finding = toFinding(error, source.text, tokens);
    const { line } = source.place(finding.at);
    // A second error on a line follows from the first.
    if (line !== lastLine) problems.error(finding);
    lastLine = line;
  }
  for (const warning of document.warnings.slice(0, MAX_SYNTAX_ERRORS))
    problems.warning(toFinding(warning, source.text, tokens));
}

/** After the first few, errors are consequences of the ones before. */
const MAX_SYNTAX_ERRORS = 5;

function toFinding(error: YAMLError, text: string, tokens: readonly CST.Token[]): Finding {
  const [start, end] = error.pos;
  const braces = findBraces(text, start);
  if (braces !== undefined) return { code: "UNQUOTED_BRACES", at: braces, message: READ_AS_MAP };
  const at = isAboutQuotes(error) ? (findOpenQuote(start, tokens) ?? { start, end }) : { start, end };
  return { code: "YAML_SYNTAX", at, message: toMessage(error), remedy: toRemedy(error) };
}

// `prompt: {input.x} and more` is a syntax error somewhere behind the braces; the braces are the mistake.
function findBraces(text: string, offset: number): Range | undefined {
  const lineStart = text.lastIndexOf("\n", offset - 1) + 1;
  const line = text.slice(Math.max(lineStart, offset - 1_000), offset + 1);
  const found = /(?:^|[:-])[ \t]+(\{\{?\s*(?:input|steps|storage|item|run_id|date)\b[^}\n]*\}*)/.exec(line);
  if (found?.[1] === undefined) return undefined;
  const start = offset + 1 - line.length + found.index + found[0].length - found[1].length;
  return { start, end: start + found[1].length };
}

function isAboutQuotes({ code, message }: YAMLError): boolean {
  return code === "MISSING_CHAR" && message.includes("quote");
}

/** The parser notices an open quote where the text ends. */
function findOpenQuote(textEnd: number, tokens: readonly CST.Token[]): Range | undefined {
  const open = [...tokens];
  for (let token = open.pop(); token !== undefined; token = open.pop()) {
    if (isQuoted(token) && token.offset + token.source.length === textEnd)
      return { start: token.offset, end: token.offset + 1 };
    for (const child of childrenOf(token)) open.push(child);
  }
  return undefined;
}

function isQuoted(token: CST.Token): token is CST.FlowScalar {
  return token.type === "double-quoted-scalar" || token.type === "single-quoted-scalar";
}

function toMessage(error: YAMLError): string {
  return error.message.endsWith(".") ? error.message : `${error.message}.`;
}

function toRemedy({ code, message }: YAMLError): string | undefined {
  // The parser has one code for lines that are not aligned and for brackets that are not closed.
  if (code === "BAD_INDENT" && message.startsWith("Flow ")) return REMEDIES.MISSING_CHAR;
  return REMEDIES[code];
}

const REMEDIES: { readonly [code in YAMLError["code"]]?: string } = {
  BAD_INDENT: "Give all entries of one map or list the same indentation.",
  BAD_SCALAR_START: "Put the whole text in double quotes.",
  BLOCK_AS_IMPLICIT_KEY:
    "Put the text in quotes, or write it as a block after `|`: a colon and a blank begin a new key.",
  MISSING_CHAR: "Close what is open (quotes, brackets), and check the indentation of the line.",
  MULTILINE_IMPLICIT_KEY: "Put the text in quotes, or look for a missing colon.",
  TAB_AS_INDENT: "Indent with blanks.",
  TAG_RESOLVE_FAILED: "Put the whole text in double quotes, or leave out what begins with `!`: it is a tag of YAML.",
  UNEXPECTED_TOKEN: "Put the whole text in one pair of quotes, or write it as a block after `|`.",
};

/** The offset at which the text is nested more deeply than allowed. The parser keeps a stack of its own, but what follows it recurses. */
export function findTooDeep(tokens: readonly CST.Token[], maxDepth: number): number | undefined {
  const open = tokens.map((token) => ({ token, depth: 0 }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { token, depth } = next;
    if (depth > maxDepth) return token.offset;
    for (const child of childrenOf(token)) open.push({ token: child, depth: depth + 1 });
  }
  return undefined;
}

function childrenOf(token: CST.Token): readonly CST.Token[] {
  if (token.type === "document") return token.value === undefined ? [] : [token.value];
  if (token.type !== "block-map" && token.type !== "block-seq" && token.type !== "flow-collection") return [];
  const children: CST.Token[] = [];
  for (const { key, value } of token.items as readonly CST.CollectionItem[]) {
    if (key) children.push(key);
    if (value) children.push(value);
  }
  return children;
}
