import {
  DOUBTFUL,
  expandBraces,
  HOME,
  outputOf,
  plain,
  protect,
  type ReadCommand,
  spell,
  UNKNOWN,
} from "./shell-words.ts";

/** What is known while a text is read; texts within it share it. */
export interface ReadContext {
  readonly variables: Map<string, string>;
  /** Characters that may still be read: a text that makes up others makes up so many. */
  left: number;
  /** How deep texts and substitutions lie within each other. */
  depth: number;
}

const MAX_DEPTH = 60;

export interface ReadText {
  /** Each command that may run, in the order of the text, also those in substitutions, loops and functions. */
  readonly commands: readonly ReadCommand[];
  /** A quote, a substitution or a here-document has no end, or there is too much to read. */
  readonly isUnfinished: boolean;
}

/** Finds the commands in a text for a shell, in the grammar of POSIX with the usual additions. Nothing is run. */
export function readCommands(text: string, context: ReadContext): ReadText {
  const reader = new Reader(text, context);
  context.depth += 1;
  reader.readAll();
  context.depth -= 1;
  return reader;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
type Begun = Mutable<ReadCommand> & { words: string[]; writes: string[] };

/** Words after which a command may stand. */
const LEADING = new Set(
  "! { } if then elif else fi do done while until time coproc esac begin end and or not".split(" "),
);
const OPERATOR = /;;&|;;|;&|;|&&|\|\||\|&|\||&(?!>)/y;
const REDIRECTION = /(?:\d+|\{\w+\})?(?:&>>?|<<<|<<-?|<>|[<>]&|>>|>\||[<>](?!\())/y;
const FOREVER = /^\(\s*;\s*;\s*\)\)/;
const SHIFT = /\d*<</y;
const PROCESS = /[<>]\(/y;
const ASSIGNMENT = /^([A-Za-z_]\w*)\+?=([\s\S]*)$/;
const DECLARING = new Set(["export", "declare", "local", "readonly", "typeset"]);
const WAITS = new Set(["wait", "sleep", "read", "inotifywait"]);
const ENDLESS = new Set(["while true", "while :", "while 1", "while [ 1 ]", "until false", "for"]);

interface HereDocument {
  readonly command: Begun;
  readonly end: string;
  readonly isQuoted: boolean;
  readonly isIndented: boolean;
}

class Reader implements ReadText {
  readonly commands: ReadCommand[] = [];
  isUnfinished = false;
  readonly #text: string;
  readonly #context: ReadContext;
  #at = 0;
  #depth = 0;
  #functions: { readonly name: string; readonly depth: number }[] = [];
  #loops: { readonly from: number; readonly isEndless: boolean }[] = [];
  #documents: HereDocument[] = [];

  constructor(text: string, context: ReadContext) {
    this.#text = text;
    this.#context = context;
    context.left -= text.length;
  }

  readAll(): void {
    if (this.#isTooMuch()) this.isUnfinished = true;
    else this.#readList({ end: undefined, isArithmetic: false, isPiped: false });
    if (this.#documents.length > 0) this.isUnfinished = true;
  }

  /** Reads all of it as what stands between double quotes. */
  readText(): string {
    return this.#isTooMuch() ? DOUBTFUL : this.#readQuoted(undefined);
  }

  #isTooMuch(): boolean {
    return this.#context.left < 0 || this.#context.depth > MAX_DEPTH;
  }

  #readList({ end, isArithmetic, isPiped }: { end: ")" | undefined; isArithmetic: boolean; isPiped: boolean }): void {
    let open = 0;
    let isPattern = false;
    let command = begin(isPiped ? "unknown" : undefined);
    const finish = (operator: string) => {
      const first = firstOf(command);
      if (first === "case" || operator.startsWith(";;")) isPattern = true;
      else if (first !== undefined) isPattern = false;
      const finished = this.#finish(command, operator);
      command = begin(isPipe(operator) ? (finished ?? "unknown") : undefined);
    };
    for (;;) {
      this.#skipBlanks();
      const character = this.#text[this.#at];
      if (character === undefined) {
        finish("");
        if (end !== undefined || open > 0) this.isUnfinished = true;
        return;
      }
      const isOfCase = isPattern || firstOf(command) === "case";
      if (character === "#") this.#readComment();
      else if (character === "\n") {
        finish(";");
        this.#at += 1;
        this.#readDocuments();
      } else if (character === ")") {
        this.#at += 1;
        if (isOfCase && command.words.length > 0 && !command.words.includes("esac")) {
          command = begin(undefined);
          isPattern = false;
          continue;
        }
        finish("");
        if (open > 0) {
          open -= 1;
          this.#close();
        } else if (end !== undefined) return;
      } else if (character === "(") {
        if (isOfCase) this.#at += 1;
        else if (this.#readDefinition(command)) command = begin(undefined);
        else if (firstOf(command) !== undefined) this.#readGroup(command);
        else {
          const { from } = command;
          this.#finish(command, ";");
          command = begin(from);
          this.#at += 1;
          if (this.#text[this.#at] === "(") this.#readSubstitution(true);
          else {
            open += 1;
            this.#depth += 1;
          }
        }
      } else if (this.#take(PROCESS) !== undefined) {
        command.words.push(this.#readSubstitution(false, this.#text[this.#at - 2] === ">"));
      } else if (isArithmetic && this.#take(SHIFT) !== undefined) {
        // No here-document.
      } else {
        const redirection = this.#take(REDIRECTION)?.replace(/^(?:\d+|\{\w+\})/, "");
        const operator = redirection === undefined ? this.#take(OPERATOR) : undefined;
        if (redirection !== undefined) this.#readRedirection(command, redirection);
        else if (operator === "|" && isOfCase && !command.words.includes("esac")) {
          command = begin(undefined);
          isPattern = true;
        } else if (operator !== undefined) finish(operator);
        else command.words.push(...this.#readWord());
      }
    }
  }

  /** Takes in a command whose end has come. Undefined: there was none. */
  #finish(command: Begun, operator: string): ReadCommand | undefined {
    const words = [...command.words];
    while (words[0] !== undefined) {
      const [word, ...rest] = words;
      if (word === "function" && rest[0] !== undefined) {
        this.#functions.push({ name: rest[0], depth: this.#depth });
        words.splice(0, 2);
        continue;
      }
      if (word === "while" || word === "until") {
        this.#loops.push({ from: this.commands.length, isEndless: ENDLESS.has(words.join(" ")) });
      } else if (word === "done" || word === "end") this.#endLoop();
      else if (word === "{") this.#depth += 1;
      else if (word === "}") this.#close();
      else if (word.startsWith("{") && word !== "{}") {
        this.#depth += 1;
        words[0] = word.slice(1);
        continue;
      }
      if (!LEADING.has(word)) break;
      words.shift();
    }
    if (words[0] === "for" || words[0] === "select" || words[0] === "case") {
      const [kind, name = "", , ...values] = words;
      if (kind === "for") {
        this.#context.variables.set(name, values.join(" "));
        this.#loops.push({ from: this.commands.length, isEndless: words.length === 1 });
      }
      return undefined;
    }
    while (words[0] !== undefined) {
      const [, name, value = ""] = ASSIGNMENT.exec(words[0]) ?? [];
      if (name === undefined) break;
      this.#context.variables.set(name, value);
      if (name !== "PROMPT_COMMAND") words.shift();
      else words.splice(0, 1, "eval", value);
    }
    if (DECLARING.has(words[0] ?? "")) {
      for (const word of words) {
        const [, name, value = ""] = ASSIGNMENT.exec(word) ?? [];
        if (name !== undefined) this.#context.variables.set(name, value);
      }
    } else if (words[0] === "set" && words[1] !== undefined && /^\w+$/.test(words.at(-2) ?? ""))
      this.#context.variables.set(words.at(-2) ?? "", words.at(-1) ?? "");
    if (words.length === 0 && command.writes.length === 0) return undefined;
    const isPiped = command.from !== undefined || isPipe(operator);
    const within = this.#functions.map(({ name }) => name);
    const finished = Object.assign(command, { words, within, isPiped, isInBackground: operator === "&" });
    this.commands.push(finished);
    return finished;
  }

  #endLoop(): void {
    const loop = this.#loops.pop();
    if (loop?.isEndless !== true) return;
    const started = this.commands.slice(loop.from) as Begun[];
    if (started.some(({ words: [name = ""] }) => WAITS.has(name))) return;
    for (const command of started) command.isEndless = command.isInBackground;
  }

  #close(): void {
    this.#depth -= 1;
    this.#functions = this.#functions.filter(({ depth }) => depth < this.#depth);
  }

  /** `name()`. */
  #readDefinition({ words }: Begun): boolean {
    const named = words.filter((word) => !LEADING.has(word));
    const [name] = named.slice(-1);
    if (name === undefined || named.length > 2 || this.#take(/\(\s*\)/y) === undefined) return false;
    this.#functions.push({ name, depth: this.#depth });
    return true;
  }

  /** Parentheses after a word: the values of an array, or what fish and zsh put in there. */
  #readGroup(command: Begun): void {
    this.#at += 1;
    const last = command.words.at(-1) ?? "";
    const isArray = /^\w+\+?=$/.test(last) && this.#text[this.#at - 2] === "=";
    if (!isArray) {
      const isLoop = last === "for" && this.#text[this.#at] === "(";
      const isForever = isLoop && FOREVER.test(this.#text.slice(this.#at, this.#at + 20));
      const read = this.#readSubstitution(isLoop);
      if (!isForever) command.words.push(read);
      return;
    }
    const values: string[] = [];
    for (;;) {
      while (/\s/.test(this.#text[this.#at] ?? "")) this.#at += 1;
      const character = this.#text[this.#at];
      if (character === undefined) this.isUnfinished = true;
      if (character === undefined || character === ")") break;
      const before = this.#at;
      values.push(...this.#readWord());
      if (this.#at === before) this.#at += 1;
    }
    this.#at += 1;
    command.words[command.words.length - 1] = last + values.join(" ");
  }

  /** Shells that take no comments run what stands behind them. */
  #readComment(): void {
    const end = this.#text.indexOf("\n", this.#at);
    const comment = this.#text.slice(this.#at + 1, end === -1 ? undefined : end);
    this.#at = end === -1 ? this.#text.length : end;
    this.commands.push(...readCommands(`: ${comment}`, this.#context).commands.filter(({ words }) => words[0] !== ":"));
  }

  #readRedirection(command: Begun, kind: string): void {
    this.#skipBlanks();
    const from = this.#at;
    const [target = "", ...rest] = this.#readWord();
    if (kind === "<<" || kind === "<<-") {
      const written = this.#text.slice(from, this.#at);
      this.#documents.push({ command, end: target, isQuoted: /["'\\]/.test(written), isIndented: kind === "<<-" });
    } else if (kind === "<<<") command.input = [target, ...rest].join(" ");
    else if (kind === "<") command.words.push(...(target.includes(DOUBTFUL) ? [target] : []));
    else if (!/^(?:\d*-?)$/.test(target)) command.writes.push(target, ...rest);
  }

  #readDocuments(): void {
    for (const { command, end, isQuoted, isIndented } of this.#documents.splice(0)) {
      const lines: string[] = [];
      for (;;) {
        const next = this.#text.indexOf("\n", this.#at);
        const line = this.#text.slice(this.#at, next === -1 ? undefined : next);
        const isEnd = (isIndented ? line.replace(/^\t+/, "") : line) === end;
        if (isEnd || next === -1) {
          this.isUnfinished ||= !isEnd;
          this.#at = next === -1 ? this.#text.length : next + 1;
          break;
        }
        lines.push(line);
        this.#at = next + 1;
      }
      const text = `${lines.join("\n")}\n`;
      command.input = isQuoted ? text : this.#readInner(text);
    }
  }

  #readInner(text: string): string {
    const inner = new Reader(text, this.#context);
    const read = inner.readText();
    this.#takeIn(inner);
    return plain(read);
  }

  #takeIn(inner: ReadText): void {
    this.commands.push(...inner.commands);
    this.isUnfinished ||= inner.isUnfinished;
  }

  #readWord(end = ""): string[] {
    const fields: string[] = [];
    let field: string | undefined;
    const add = (value: string) => {
      const [first = "", ...others] = value.split(/[ \t\n]+/);
      if (first !== "") field = (field ?? "") + first;
      for (const other of others) {
        if (field !== undefined) fields.push(field);
        field = other === "" ? undefined : other;
      }
    };
    for (let character = this.#text[this.#at]; character !== undefined; character = this.#text[this.#at]) {
      if (/[\s;&|()<>]/.test(character) || character === end) break;
      if (character === "\\") {
        const next = this.#text[this.#at + 1] ?? "";
        if (next !== "\n") field = (field ?? "") + protect(next);
        this.#at += 2;
      } else if (character === "'") field = (field ?? "") + protect(this.#readUntil("'"));
      else if (character === '"') {
        this.#at += 1;
        field = (field ?? "") + this.#readQuoted('"');
      } else if (character === "$") {
        if (this.#text[this.#at + 1] === "'") field = (field ?? "") + protect(this.#readSpelled());
        else if (this.#text[this.#at + 1] === '"') this.#at += 1;
        else add(this.#readDollar());
      } else if (character === "`") add(this.#readBackticks());
      else {
        field = (field ?? "") + character;
        this.#at += 1;
      }
    }
    if (field !== undefined) fields.push(field);
    return fields.flatMap(expandBraces).map((each) => plain(each.replace(/^~[^/{},]*/, HOME).replace(/(?<==)~/, HOME)));
  }

  #readUntil(quote: string): string {
    const end = this.#text.indexOf(quote, this.#at + 1);
    if (end === -1) this.isUnfinished = true;
    const text = this.#text.slice(this.#at + 1, end === -1 ? undefined : end);
    this.#at = end === -1 ? this.#text.length : end + 1;
    return text;
  }

  /** Between double quotes, and in a here-document. */
  #readQuoted(quote: '"' | undefined): string {
    let text = "";
    for (let character = this.#text[this.#at]; character !== quote; character = this.#text[this.#at]) {
      if (character === undefined) {
        this.isUnfinished = true;
        return text;
      }
      if (character === "\\") {
        const next = this.#text[this.#at + 1] ?? "";
        text += next === "\n" ? "" : '$`"\\'.includes(next) ? protect(next) : `\\${protect(next)}`;
        this.#at += 2;
      } else if (character === "$") text += this.#readDollar();
      else if (character === "`") text += this.#readBackticks();
      else {
        text += protect(character);
        this.#at += 1;
      }
    }
    this.#at += 1;
    return text;
  }

  /** `$'...'`. */
  #readSpelled(): string {
    const whole = this.#take(/\$'((?:[^'\\]|\\[\s\S])*)'/y);
    if (whole !== undefined) return spell(whole.slice(2, -1));
    this.isUnfinished = true;
    this.#at = this.#text.length;
    return "";
  }

  #readBackticks(): string {
    const quoted = this.#take(/`((?:[^`\\]|\\[\s\S])*)`/y);
    if (quoted === undefined) {
      this.isUnfinished = true;
      this.#at += 1;
      return DOUBTFUL;
    }
    const inner = readCommands(quoted.slice(1, -1).replace(/\\([`\\$])/g, "$1"), this.#context);
    this.#takeIn(inner);
    return outputOf(inner.commands);
  }

  /** From behind its parenthesis on. */
  #readSubstitution(isArithmetic: boolean, isPiped = false): string {
    const from = this.commands.length;
    const [depth, functions, loops] = [this.#depth, this.#functions, this.#loops];
    this.#loops = [];
    this.#within(() => this.#readList({ end: ")", isArithmetic, isPiped }));
    [this.#depth, this.#functions, this.#loops] = [depth, functions, loops];
    return isArithmetic ? UNKNOWN : outputOf(this.commands.slice(from));
  }

  /** What lies too deep is not read, and nothing behind it. */
  #within(read: () => void): void {
    this.#context.depth += 1;
    if (!this.#isTooMuch()) read();
    else {
      this.isUnfinished = true;
      this.#at = this.#text.length;
    }
    this.#context.depth -= 1;
  }

  #readDollar(): string {
    if (this.#text.startsWith("$(", this.#at)) {
      this.#at += 2;
      return this.#readSubstitution(this.#text[this.#at] === "(");
    }
    if (this.#text.startsWith("${", this.#at)) return this.#readBraces();
    const name = this.#take(/\$(?:[A-Za-z_]\w*|[\d@*#?$!-])/y);
    if (name !== undefined) return this.#lookUp(name.slice(1));
    this.#at += 1;
    return "$";
  }

  /** `${name}`, and with what is done to it. */
  #readBraces(): string {
    this.#at += 2;
    const name = this.#take(/[A-Za-z_]\w*(?:\[[^\]]*\])?|\d+|[@*#?$!-]/y) ?? "";
    const operator = this.#take(/:?[-=+?]|[#%]{1,2}/y) ?? "";
    let word = "";
    this.#within(() => {
      for (let next = this.#text[this.#at]; next !== "}" && next !== undefined; next = this.#text[this.#at]) {
        const before = this.#at;
        word += this.#readWord("}").join(" ");
        if (this.#at === before) {
          word += next;
          this.#at += 1;
        }
      }
    });
    if (this.#text[this.#at] === undefined) this.isUnfinished = true;
    this.#at += 1;
    const value = this.#lookUp(name.replace(/\[.*/, ""));
    if (operator === "" && word !== "") return UNKNOWN;
    if (/[-=]/.test(operator) && (value === UNKNOWN || value === "")) return word;
    return operator.includes("+") ? word : value;
  }

  #lookUp(name: string): string {
    const known = this.#context.variables.get(name);
    this.#context.left -= known?.length ?? 0;
    if (this.#isTooMuch()) {
      this.isUnfinished = true;
      return DOUBTFUL;
    }
    if (known !== undefined) return protect(known);
    if (name === "HOME") return HOME;
    if (name === "PWD") return ".";
    if (name === "IFS") return " ";
    if (name === "0") return "$0";
    return /^[@*1-9]$/.test(name) ? "" : UNKNOWN;
  }

  #skipBlanks(): void {
    this.#take(/(?:[ \t\r\f\v]|\\\n)+/y);
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const [found] = pattern.exec(this.#text) ?? [];
    if (found !== undefined) this.#at += found.length;
    return found;
  }
}

/** The word that says what a command is. */
function firstOf({ words }: ReadCommand): string | undefined {
  return words.find((word) => !LEADING.has(word));
}

function isPipe(operator: string): boolean {
  return operator === "|" || operator === "|&";
}

function begin(from: ReadCommand["from"]): Begun {
  const facts = { isInBackground: false, isPiped: false, isEndless: false, within: [] };
  return { words: [], writes: [], input: undefined, from, ...facts };
}
