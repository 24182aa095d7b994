/** A fault in a template, and its place. Lines and columns start at 1. */
export interface TemplateFault {
  readonly reason: string;
  readonly line?: number;
  readonly column?: number;
  readonly length?: number;
}
