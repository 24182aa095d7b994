export type TokenKind =
  | "data"
  | "variableBegin"
  | "variableEnd"
  | "blockBegin"
  | "blockEnd"
  | "name"
  | "integer"
  | "float"
  | "string"
  | "operator"
  | "end";

export interface Token {
  readonly kind: TokenKind;
  /** Data and strings as they are read, everything else as it is written. */
  readonly text: string;
  /** Offset in the template. */
  readonly at: number;
  readonly length: number;
}

export function describeToken({ kind, text }: Token): string {
  switch (kind) {
    case "end":
      return "end of template";
    case "variableEnd":
      return "end of variable block";
    case "blockEnd":
      return "end of block tag";
    case "blockBegin":
    case "variableBegin":
      return "begin of a tag";
    case "data":
      return "text";
    case "string":
      return "a text";
    case "name":
    case "integer":
    case "float":
    case "operator":
      return `\`${text.slice(0, 40)}\``;
  }
}
