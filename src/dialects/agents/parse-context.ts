import type { Place } from "../../core/graph/graph.ts";
import type { JsonObject } from "../../core/json.ts";
import type { ProblemList } from "../problem-list.ts";
import type { Range, SourceText } from "../source/source-text.ts";
import type { YamlNode } from "../source/yaml-node.ts";

export interface ParseContext {
  readonly source: SourceText;
  readonly problems: ProblemList;
  /** Filled while reading: schemas are checked afterwards, since that loads a checker. */
  readonly schemas: SchemaUse[];
}

export interface SchemaUse {
  readonly at: YamlNode;
  readonly schema: JsonObject;
}

/** Without the file: the graph of a text is the same wherever it lies. */
export function toPlace(at: Range, source: SourceText): Place {
  const { line, column } = source.place({ start: at.start, end: at.start });
  return { line, column };
}
