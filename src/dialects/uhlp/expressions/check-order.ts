import { type ExpressionFault, type Span, toFault } from "./expression-fault.ts";
import { refuseSecondValue, type SignToken, type Token } from "./tokenize.ts";

/**
 * Finds the first token that cannot stand where it stands. What passes has values and operators in turn, closed brackets
 * and bounded nesting, so that the parser after it meets neither a surprise nor the end of the stack.
 */
export function checkOrder(tokens: readonly Token[]): ExpressionFault | undefined {
  const order = new Order();
  for (const token of tokens) {
    const fault = order.take(token);
    if (fault !== undefined) return fault;
  }
  return order.finish();
}

/** Levels of the tree: brackets, `!`, fields, indexes and calls; `&&`, `||` and comparisons add three at most to each. */
const MAX_HEIGHT = 100;

/** The part of an expression between two brackets, or around them all. */
interface Level {
  readonly opened: "start" | "group" | "call" | "list" | "index";
  readonly by: Span;
  hasComparison: boolean;
  hasArrow: boolean;
  /** The height of the highest value that has ended, and of the one under way. */
  height: number;
  value: number;
  /** Each `!` before the value under way. */
  nots: number;
}

function newLevel(opened: Level["opened"], by: Span): Level {
  return { opened, by, hasComparison: false, hasArrow: false, height: 0, value: 0, nots: 0 };
}

class Order {
  readonly #outer: Level[] = [];
  #level = newLevel("start", { start: 0, end: 0 });
  #before: Token | undefined;
  #expectsValue = true;

  take(token: Token): ExpressionFault | undefined {
    const before = this.#before;
    this.#before = token;
    if (before?.kind === "sign" && before.text === ".") return takeField(token);
    const fault = this.#expectsValue ? this.#takeValue(token, before) : this.#takeAfterValue(token, before);
    return fault ?? (this.#level.value + this.#level.nots > MAX_HEIGHT ? tooHigh(token) : undefined);
  }

  finish(): ExpressionFault | undefined {
    const last = this.#before;
    if (last === undefined) {
      const span = { start: 0, end: 0 };
      return toFault(span, { message: "The expression is empty.", remedy: "For an empty text write `''`." });
    }
    const isAfterDot = last.kind === "sign" && last.text === ".";
    if (this.#expectsValue || isAfterDot)
      return toFault(last, { message: "The expression ends too early.", remedy: "Write what is missing." });
    const { opened, by } = this.#level;
    if (opened === "start") return undefined;
    const [sign, closing] = opened === "group" || opened === "call" ? ["(", ")"] : ["[", "]"];
    return toFault(by, { message: `\`${sign}\` is never closed.`, remedy: `Write \`${closing}\`.` });
  }

  #takeValue(token: Token, before: Token | undefined): ExpressionFault | undefined {
    if (token.kind !== "sign") return this.#endValue(1);
    switch (token.text) {
      case "!":
        this.#level.nots += 1;
        return undefined;
      case "(":
        return this.#open("group", token);
      case "[":
        return this.#open("list", token);
      case ")":
        return this.#isEmpty("call", before) ? this.#close(token) : missingBefore(token);
      case "]":
        return this.#isEmpty("list", before) ? this.#close(token) : missingBefore(token);
      default:
        return missingBefore(token);
    }
  }

  #takeAfterValue(token: Token, before: Token | undefined): ExpressionFault | undefined {
    if (token.kind !== "sign") return refuseSecondValue(before, token);
    switch (token.text) {
      case ".":
        this.#level.value += 1;
        return undefined;
      case "(":
        return this.#open("call", token);
      case "[":
        return this.#open("index", token);
      case ")":
      case "]":
        return this.#close(token);
      case ",":
        return this.#takeComma(token);
      case "!":
        return toFault(token, { message: "`!` stands before a value.", remedy: "For unequal write `!=`." });
      case "&&":
      case "||":
        return this.#beginValue(false);
      case "=>":
        return this.#takeArrow(token);
      case "==":
      case "!=":
      case "<":
      case "<=":
      case ">":
      case ">=":
        return this.#level.hasComparison ? refuseChain(token) : this.#beginValue(true);
    }
  }

  #beginValue(hasComparison: boolean): undefined {
    this.#settle();
    this.#level.hasComparison = hasComparison;
    this.#expectsValue = true;
  }

  #endValue(height: number): undefined {
    this.#level.value = height;
    this.#expectsValue = false;
  }

  #open(opened: Level["opened"], token: Token): undefined {
    this.#outer.push(this.#level);
    this.#level = newLevel(opened, token);
    this.#expectsValue = true;
  }

  #close(token: SignToken): ExpressionFault | undefined {
    const { opened } = this.#level;
    const fits = token.text === ")" ? opened === "group" || opened === "call" : opened === "list" || opened === "index";
    const outer = fits ? this.#outer.pop() : undefined;
    if (outer === undefined)
      return toFault(token, { message: `\`${token.text}\` closes nothing.`, remedy: "Remove it." });
    const height = this.#settle();
    this.#level = outer;
    const isLink = opened === "call" || opened === "index";
    return this.#endValue(1 + (isLink ? Math.max(outer.value, height) : height));
  }

  #takeComma(token: SignToken): ExpressionFault | undefined {
    const { opened } = this.#level;
    this.#level.hasArrow = false;
    if (opened === "call" || opened === "list") return this.#beginValue(false);
    const message = "A comma separates arguments, and elements of a list.";
    return toFault(token, { message, remedy: "Write a list as `[a, b]`." });
  }

  #takeArrow(token: SignToken): ExpressionFault | undefined {
    if (this.#level.opened !== "call" || this.#level.hasArrow) {
      const message = "`=>` stands in `map(list, x => ...)` and `filter(list, x => ...)` only.";
      return toFault(token, { message, remedy: "For greater or equal write `>=`." });
    }
    this.#level.hasArrow = true;
    return this.#beginValue(false);
  }

  /** The value under way has ended. */
  #settle(): number {
    const level = this.#level;
    level.height = Math.max(level.height, level.value + level.nots);
    level.value = 0;
    level.nots = 0;
    return level.height;
  }

  #isEmpty(opened: Level["opened"], before: Token | undefined): boolean {
    return this.#level.opened === opened && before === this.#level.by;
  }
}

function takeField(token: Token): ExpressionFault | undefined {
  if (token.kind === "name") return undefined;
  return toFault(token, { message: "A name is missing after `.`.", remedy: "For any other text write `['text']`." });
}

function missingBefore(token: SignToken): ExpressionFault {
  return toFault(token, { message: `A value is missing before \`${token.text}\`.`, remedy: "Write the value." });
}

function refuseChain(token: SignToken): ExpressionFault {
  const remedy = "Write `a < b && b < c`, or parentheses around one.";
  return toFault(token, { message: "Comparisons cannot be chained.", remedy });
}

function tooHigh(token: Token): ExpressionFault {
  const message = `Brackets, fields and \`!\` lie in each other more than ${MAX_HEIGHT} levels deep.`;
  const remedy = "Take it apart: compute a part of it in a step of its own.";
  return toFault(token, { code: "EXPRESSION_TOO_COMPLEX", message, remedy });
}
