/** A template as it is read. `at` is the offset that an error points to. */

export type Constant = null | boolean | bigint | number | string;

export type Expression = { readonly at: number } & (
  | { readonly kind: "constant"; readonly value: Constant }
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "attribute"; readonly object: Expression; readonly name: string }
  | { readonly kind: "item"; readonly object: Expression; readonly index: Expression }
  | {
      readonly kind: "slice";
      readonly start: Expression | undefined;
      readonly stop: Expression | undefined;
      readonly step: Expression | undefined;
    }
  | { readonly kind: "list" | "tuple" | "concat"; readonly items: readonly Expression[] }
  | { readonly kind: "dict"; readonly entries: readonly (readonly [Expression, Expression])[] }
  | { readonly kind: "not"; readonly operand: Expression }
  | { readonly kind: "negative" | "positive"; readonly operand: Expression }
  | { readonly kind: "and" | "or"; readonly left: Expression; readonly right: Expression }
  | {
      readonly kind: "arithmetic";
      readonly operator: ArithmeticOperator;
      readonly left: Expression;
      readonly right: Expression;
    }
  | { readonly kind: "comparison"; readonly first: Expression; readonly rest: readonly Comparison[] }
  | {
      readonly kind: "condition";
      readonly test: Expression;
      readonly chosen: Expression;
      readonly otherwise: Expression | undefined;
    }
  | ({ readonly kind: "filter" } & Application)
  | ({ readonly kind: "test" } & Application)
  | { readonly kind: "call"; readonly callee: Expression; readonly args: CallArguments }
);

export type ArithmeticOperator = "+" | "-" | "*" | "/" | "//" | "%" | "**";
export type ComparisonOperator = "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not in";

export interface Comparison {
  readonly operator: ComparisonOperator;
  readonly operand: Expression;
}

/** A filter or a test by its name. Without a value it is applied to the text of a block. */
export interface Application {
  readonly name: string;
  readonly value: Expression | undefined;
  readonly args: CallArguments;
}

export interface CallArguments {
  readonly positional: readonly Expression[];
  readonly named: readonly (readonly [string, Expression])[];
  /** `*list` and `**map`. */
  readonly list: Expression | undefined;
  readonly map: Expression | undefined;
}

export type Target = { readonly at: number } & (
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "member"; readonly name: string; readonly attribute: string }
  | { readonly kind: "tuple"; readonly items: readonly Target[] }
);

export interface Parameter {
  readonly name: string;
  readonly fallback: Expression | undefined;
}

export interface MacroDefinition {
  readonly name: string;
  readonly parameters: readonly Parameter[];
  readonly body: readonly Statement[];
  /** Names of the body that make a macro take what it does not declare. */
  readonly uses: ReadonlySet<string>;
}

export type Statement = { readonly at: number } & (
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "print"; readonly value: Expression }
  | {
      readonly kind: "for";
      readonly target: Target;
      readonly over: Expression;
      readonly filter: Expression | undefined;
      readonly isRecursive: boolean;
      readonly body: readonly Statement[];
      readonly otherwise: readonly Statement[];
    }
  | {
      readonly kind: "if";
      readonly branches: readonly { readonly test: Expression; readonly body: readonly Statement[] }[];
      readonly otherwise: readonly Statement[];
    }
  | { readonly kind: "set"; readonly target: Target; readonly value: Expression }
  | {
      readonly kind: "setBlock";
      readonly target: Target;
      readonly filter: Expression | undefined;
      readonly body: readonly Statement[];
    }
  | {
      readonly kind: "with";
      readonly values: readonly { readonly target: Target; readonly value: Expression }[];
      readonly body: readonly Statement[];
    }
  | { readonly kind: "macro"; readonly macro: MacroDefinition }
  | { readonly kind: "call"; readonly call: Expression; readonly caller: MacroDefinition }
  | { readonly kind: "filter"; readonly filter: Expression; readonly body: readonly Statement[] }
  | { readonly kind: "block"; readonly name: string; readonly isScoped: boolean; readonly body: readonly Statement[] }
  | { readonly kind: "autoescape"; readonly value: Expression; readonly body: readonly Statement[] }
  | { readonly kind: "do"; readonly value: Expression }
  | { readonly kind: "break" | "continue" }
  /** Include, import, extends: other templates, which there are none of. */
  | { readonly kind: "load" }
);

export interface Template {
  /** With normal line ends; offsets are those of this text. */
  readonly source: string;
  readonly body: readonly Statement[];
  readonly blocks: ReadonlyMap<string, readonly Statement[]>;
  /** Names that the template needs to be given, with the first place of each; globals are among them. */
  readonly reads: ReadonlyMap<string, number>;
}
