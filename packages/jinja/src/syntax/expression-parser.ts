import type { ArithmeticOperator, Comparison, ComparisonOperator, Expression } from "./nodes.ts";
import { OperandParser } from "./operand-parser.ts";

const COMPARISONS: readonly ComparisonOperator[] = ["==", "!=", "<", "<=", ">", ">="];

/** Operators, by descent. Their order is Jinja's: `~` binds more tightly than `+`, and `**` goes from left to right. */
export class ExpressionParser extends OperandParser {
  override parse(): Expression {
    const known = this.unknown.length;
    const { at } = this.tokens.current;
    let result = this.parseWithoutIf();
    while (this.tokens.skipWord("if")) {
      const test = this.parseTested(() => this.parseWithoutIf());
      const otherwise = this.tokens.skipWord("else") ? this.parse() : undefined;
      result = { kind: "condition", at, test, chosen: result, otherwise };
      this.unknown.length = known;
    }
    return result;
  }

  /** What a condition reads may be missing. */
  parseTested(parse: () => Expression): Expression {
    const { part, names } = this.tokens.namesOf(parse);
    for (const name of names) this.tokens.settled.add(name);
    return part;
  }

  parseWithoutIf(): Expression {
    let left = this.#parseAnd();
    while (this.tokens.skipWord("or")) left = { kind: "or", at: left.at, left, right: this.#parseAnd() };
    return left;
  }

  #parseAnd(): Expression {
    let left = this.#parseNot();
    while (this.tokens.skipWord("and")) left = { kind: "and", at: left.at, left, right: this.#parseNot() };
    return left;
  }

  #parseNot(): Expression {
    const { at } = this.tokens.current;
    return this.tokens.skipWord("not") ? { kind: "not", at, operand: this.#parseNot() } : this.#parseComparison();
  }

  #parseComparison(): Expression {
    const first = this.#parseSum();
    const rest: Comparison[] = [];
    for (;;) {
      const operator = this.#takeComparison();
      if (operator === undefined) break;
      rest.push({ operator, operand: this.#parseSum() });
    }
    return rest.length === 0 ? first : { kind: "comparison", at: first.at, first, rest };
  }

  #takeComparison(): ComparisonOperator | undefined {
    if (this.tokens.skipWord("in")) return "in";
    if (this.tokens.isWord("not") && this.tokens.followsWord("in")) {
      this.tokens.next();
      this.tokens.next();
      return "not in";
    }
    return COMPARISONS.find((operator) => this.tokens.skipOperator(operator));
  }

  #parseSum(): Expression {
    return this.#parseArithmetic(["+", "-"], () => this.#parseConcat());
  }

  #parseConcat(): Expression {
    const first = this.#parseProduct();
    const items = [first];
    while (this.tokens.skipOperator("~")) items.push(this.#parseProduct());
    return items.length === 1 ? first : { kind: "concat", at: first.at, items };
  }

  #parseProduct(): Expression {
    return this.#parseArithmetic(["*", "/", "//", "%"], () => this.#parsePower());
  }

  #parsePower(): Expression {
    return this.#parseArithmetic(["**"], () => this.#parseUnary());
  }

  #parseArithmetic(operators: readonly ArithmeticOperator[], parseOperand: () => Expression): Expression {
    let left = parseOperand();
    for (;;) {
      const operator = operators.find((each) => this.tokens.skipOperator(each));
      if (operator === undefined) return left;
      left = { kind: "arithmetic", at: left.at, operator, left, right: parseOperand() };
    }
  }

  /** A sign takes members and calls with it, but no filter: `-1|abs` is 1. */
  #parseUnary(withFilters = true): Expression {
    const { tokens } = this;
    const { at } = tokens.current;
    let operand: Expression;
    if (tokens.skipOperator("-")) operand = { kind: "negative", at, operand: this.#parseUnary(false) };
    else if (tokens.skipOperator("+")) operand = { kind: "positive", at, operand: this.#parseUnary(false) };
    else operand = this.parsePrimary();
    const whole = this.parsePostfix(operand);
    return withFilters ? this.parseFilters(whole) : whole;
  }
}
