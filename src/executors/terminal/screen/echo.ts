import type { TypedLine } from "../input/typed-line.ts";

/** Typed text that the terminal or the program will repeat on the screen. */
export interface ExpectedEcho {
  readonly lines: readonly { readonly typed: TypedLine; readonly isSubmitted: boolean }[];
  /** The text left of the cursor. Programs that read a line later show it again after such a prompt. */
  readonly prompts: readonly string[];
  /** The column of the cursor, and the number of columns. */
  readonly column: number;
  readonly columns: number;
  /** The input was typed while something else ran: the shell will show it once more when it gets to it. */
  readonly isTypedAhead: boolean;
}

export const NO_ECHO: ExpectedEcho = { lines: [], prompts: [], column: 0, columns: 0, isTypedAhead: false };

const CONTINUED = /^(?:>|\.\.\.|[a-z]{1,10}>|\w{1,20}(?: \w{1,20}){0,2}>) $/;

/**
 * Takes what was typed out of the lines that come after it, so that it is not taken for output. The first line begins
 * where the cursor was.
 *
 * It goes by the text, as nothing on a terminal tells an echo from output: right after the cursor's place, one typed line
 * after another; then once more after a prompt, where a program reads only later what was typed ahead.
 */
export class EchoFilter {
  readonly #echo: ExpectedEcho;
  /** How many of the typed lines have come right after the cursor's place. `undefined`: that part is over. */
  #shown: number | undefined = 0;
  #awaited: readonly Awaited[] = [];
  /** The rest of a typed line that the program itself has broken at the edge of the screen. */
  #broken: string | undefined;

  constructor(echo: ExpectedEcho) {
    this.#echo = echo;
  }

  /** For lines that may still change: what the copy learns of them is forgotten. */
  copy(): EchoFilter {
    const copy = new EchoFilter(this.#echo);
    copy.#shown = this.#shown;
    copy.#awaited = this.#awaited;
    copy.#broken = this.#broken;
    return copy;
  }

  /** The output in the next line; `undefined` if the line is only echo. The last line may still grow. */
  take(line: string, isLast: boolean): string | undefined {
    if (this.#shown === undefined) return this.#takeRepeat(line, isLast);
    const repeated = this.#lengthOfEcho(line, this.#shown, isLast);
    if (repeated === undefined) {
      this.#awaitRepeats(this.#shown);
      return this.#takeRepeat(line, isLast);
    }
    const output = line.slice(repeated);
    if (output !== "") this.#awaitRepeats(this.#shown ?? 0);
    return output === "" && !isLast ? undefined : output;
  }

  /** How much of the beginning of a line repeats what was typed; `undefined` where it does not. */
  #lengthOfEcho(line: string, shown: number, isLast: boolean): number | undefined {
    const next = this.#echo.lines[shown];
    if (next === undefined) return undefined;
    const { typed, isSubmitted } = next;
    const expected = this.#broken ?? typed.text;
    const room =
      this.#broken === undefined && shown === 0 ? this.#echo.columns - this.#echo.column : this.#echo.columns;
    this.#broken = undefined;
    if (typed.isCertain && !line.startsWith(expected)) {
      if (!expected.startsWith(line)) return undefined;
      if (isLast) return line.length;
      // Wide characters take two columns: a row may be full with half as many.
      if (line.length * 2 < room) return undefined;
      this.#broken = expected.slice(line.length);
      return line.length;
    }
    // The look of completed, recalled or edited text is unknown: the whole line counts, once it has been sent.
    if (!typed.isCertain && (!isSubmitted || shown > 0)) return undefined;
    this.#shown = shown + 1;
    return typed.isCertain ? expected.length : line.length;
  }

  #awaitRepeats(shown: number): void {
    this.#shown = undefined;
    this.#awaited = this.#echo.lines.flatMap(({ typed }, index) => {
      const wasShown = index < shown;
      return wasShown && !this.#echo.isTypedAhead ? [] : [{ typed, wasShown }];
    });
  }

  /** Lines that something else has read before are not shown again. */
  #takeRepeat(line: string, isLast: boolean): string {
    for (const [index, awaited] of this.#awaited.entries()) {
      if (!awaited.typed.isCertain || awaited.typed.text === "") continue;
      const { prompts } = this.#echo;
      const prompt =
        findPromptOf(line, awaited, prompts) ?? (isLast ? findPromptOfPart(line, awaited, prompts) : undefined);
      if (prompt === undefined) continue;
      this.#awaited = this.#awaited.slice(index + 1);
      return prompt;
    }
    return line;
  }
}

interface Awaited {
  readonly typed: TypedLine;
  readonly wasShown: boolean;
}

function findPromptOf(line: string, { typed, wasShown }: Awaited, prompts: readonly string[]): string | undefined {
  if (!line.endsWith(typed.text)) return undefined;
  const before = line.slice(0, -typed.text.length);
  if (isPrompt(before, prompts)) return before;
  // Shown somewhere in the output of what still ran. Only a whole command is told from output that happens to end alike.
  return !wasShown && typed.text.includes(" ") ? before : undefined;
}

function findPromptOfPart(line: string, { typed }: Awaited, prompts: readonly string[]): string | undefined {
  return prompts.find((known) => line.startsWith(known) && typed.text.startsWith(line.slice(known.length)));
}

function isPrompt(before: string, prompts: readonly string[]): boolean {
  if (CONTINUED.test(before)) return prompts.length > 0;
  return prompts.some((known) => before === known || (hasMark(known) && before.endsWith(known.slice(-2))));
}

/** `$ `, `# `, `% `, `> `: what prompts of shells end with, also when the rest of them changes. */
function hasMark(prompt: string): boolean {
  return /[$#%>❯] $/u.test(prompt);
}
