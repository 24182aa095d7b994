import type { JsonObject } from "../../core/json.ts";
import type { ProblemList } from "../problem-list.ts";
import type { Text } from "../shape/shape.ts";
import type { Range, SourceText } from "../source/source-text.ts";
import type { YamlNode } from "../source/yaml-node.ts";

export interface ParseContext {
  readonly source: SourceText;
  readonly problems: ProblemList;
  /** Where the structure is wrong: nothing is said about what follows from that. */
  readonly faulty: readonly Range[];
  /** JSON Schemas of the file; checked later, since Ajv is only loaded where there is one. */
  readonly schemas: SchemaUse[];
  /** Prompts that are written in steps. */
  readonly prompts: Text[];
  readonly crons: Text[];
  /** Every id of the file, also those inside of blocks, by how they are used. */
  readonly stepIds: Set<string>;
  stepCount: number;
}

interface SchemaUse {
  readonly key: string;
  readonly at: YamlNode;
  readonly schema: JsonObject;
}
