import type { ProblemPlace } from "../../core/errors/problem.ts";
import type { Place } from "../../core/graph/graph.ts";
import type { Definition } from "../definition.ts";

/** Offsets into a definition's text; the end is exclusive. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** A definition's text with its lines, so that an offset becomes a place. */
export class SourceText {
  readonly text: string;
  readonly #file: string | undefined;
  readonly #lineStarts: readonly number[];

  constructor(definition: Definition) {
    this.text = definition.text;
    this.#file = definition.file;
    this.#lineStarts = findLineStarts(definition.text);
  }

  place(range: Range): ProblemPlace {
    const start = this.#locate(range.start);
    const end = this.#locate(range.end);
    return { file: this.#file, ...start, endLine: end.line, endColumn: end.column };
  }

  /** Without the file: the graph of a text is the same wherever it lies. */
  position({ start }: Pick<Range, "start">): Place {
    return this.#locate(start);
  }

  #locate(offset: number): { line: number; column: number } {
    const line = countUpTo(this.#lineStarts, offset);
    return { line, column: offset - (this.#lineStarts[line - 1] ?? 0) + 1 };
  }
}

function findLineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** How many of the ascending numbers are not above `limit`. */
function countUpTo(ascending: readonly number[], limit: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
