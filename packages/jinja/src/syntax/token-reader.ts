import { TemplateError } from "../template-error.ts";
import { describeToken, type Token, type TokenKind } from "./tokens.ts";

/** Goes through the tokens of a template, and says what is wrong with them. */
export class TokenReader {
  /** The names that the template reads, with the first place of each. */
  readonly reads = new Map<string, number>();
  /** Names that the template makes itself, or that it expects to be missing. */
  readonly settled = new Set<string>();
  #names = new Set<string>();
  readonly #tokens: readonly Token[];
  #index = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  get current(): Token {
    return this.#tokens[this.#index] ?? { kind: "end", text: "", at: 0, length: 0 };
  }

  noteRead({ text, at }: Token): void {
    this.#names.add(text);
    if (!this.reads.has(text)) this.reads.set(text, at);
  }

  /** The names that are read by a part of the template. */
  namesOf<Part>(parse: () => Part): { readonly part: Part; readonly names: ReadonlySet<string> } {
    const outer = this.#names;
    const names = new Set<string>();
    this.#names = names;
    const part = parse();
    this.#names = new Set([...outer, ...names]);
    return { part, names };
  }

  next(): Token {
    const token = this.current;
    this.#index += 1;
    return token;
  }

  is(kind: TokenKind, text?: string): boolean {
    const { current } = this;
    return current.kind === kind && (text === undefined || current.text === text);
  }

  isOperator(text: string): boolean {
    return this.is("operator", text);
  }

  isWord(...words: readonly string[]): boolean {
    return this.current.kind === "name" && words.includes(this.current.text);
  }

  followsOperator(text: string): boolean {
    const token = this.#tokens[this.#index + 1];
    return token?.kind === "operator" && token.text === text;
  }

  followsWord(word: string): boolean {
    const token = this.#tokens[this.#index + 1];
    return token?.kind === "name" && token.text === word;
  }

  /** Takes the token if it is there. */
  skipOperator(text: string): boolean {
    const isThere = this.isOperator(text);
    if (isThere) this.#index += 1;
    return isThere;
  }

  skipWord(word: string): boolean {
    const isThere = this.isWord(word);
    if (isThere) this.#index += 1;
    return isThere;
  }

  expect(kind: TokenKind, expected: string): Token {
    if (this.current.kind !== kind) throw this.unexpected(expected);
    return this.next();
  }

  expectOperator(text: string): Token {
    if (!this.isOperator(text)) throw this.unexpected(`\`${text}\``);
    return this.next();
  }

  expectWord(word: string): void {
    if (!this.skipWord(word)) throw this.unexpected(`\`${word}\``);
  }

  expectName(): Token {
    return this.expect("name", "a name");
  }

  unexpected(expected?: string): TemplateError {
    const wanted = expected === undefined ? "" : `, expected ${expected}`;
    return this.error(`unexpected ${describeToken(this.current)}${wanted}`);
  }

  /** Where the template ends too early, the last thing in it is shown. */
  error(message: string, token: Token = this.current): TemplateError {
    const isEnd = token.kind === "end" && this.#index > 0;
    const shown = isEnd ? (this.#tokens[this.#tokens.length - 2] ?? token) : token;
    return new TemplateError("syntax", message, { at: shown.at, length: Math.max(1, shown.length) });
  }
}
