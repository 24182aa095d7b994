/** A fault in a template, and its place. Lines and columns start at 1. */
export interface TemplateFault {
  readonly reason: string;
  readonly line?: number;
  readonly column?: number;
  readonly length?: number;
}

/** A missing value: the path that leads to it, and the names that are there instead. */
export interface MissingValue {
  readonly variable: string;
  /** `the input`, or the path of the value that lacks it. */
  readonly parent: string;
  readonly available: readonly string[];
}

type Kind = "syntax" | "undefined" | "operation" | "limit";

/** A template that cannot be read or rendered. The place is an offset until it leaves the engine. */
export class TemplateError extends Error {
  readonly kind: Kind;
  readonly at: number | undefined;
  readonly length: number;
  readonly missing: MissingValue | undefined;

  constructor(kind: Kind, message: string, more: { at?: number; length?: number; missing?: MissingValue } = {}) {
    super(message);
    this.kind = kind;
    this.at = more.at;
    this.length = more.length ?? 1;
    this.missing = more.missing;
  }

  toFault(source: string): TemplateFault {
    const reason = this.kind === "syntax" ? `syntax error: ${this.message}` : this.message;
    if (this.at === undefined) return { reason };
    const lines = source.replace(/\r\n?/g, "\n").slice(0, this.at).split("\n");
    return { reason, line: lines.length, column: [...(lines.at(-1) ?? "")].length + 1, length: this.length };
  }
}

/** What Python raises as TypeError, ValueError and the like. */
export function wrong(message: string): TemplateError {
  return new TemplateError("operation", message);
}
