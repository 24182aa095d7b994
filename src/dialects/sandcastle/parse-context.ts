import type { Policy } from "../../core/graph/policy.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Text } from "../map-reader.ts";
import type { YamlNode } from "../source/yaml-node.ts";
import type { TemplateContext } from "./template.ts";

/** What reading collects beside the workflow: things that are checked by parsers worth loading only when there are any. */
export interface ParseContext extends TemplateContext {
  readonly schemas: SchemaUse[];
  readonly crons: Text[];
  readonly regexes: Text[];
  /** Those at the top of the file. */
  readonly policies: readonly Policy[];
  /** Pages can be printed as PDF here. */
  hasChromium(): boolean;
}

export interface SchemaUse {
  readonly key: "input_schema" | "output_schema";
  readonly at: YamlNode;
  readonly schema: JsonObject;
}

/** What a step takes from the top of the file. */
export interface StepDefaults {
  readonly model: string;
  readonly maxTurns: number;
  readonly timeoutMs: number;
  readonly appendsContext: boolean;
}
