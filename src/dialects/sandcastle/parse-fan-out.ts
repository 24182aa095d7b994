import type { MapReader } from "../map-reader.ts";
import { toExcerpt } from "../source/printable.ts";
import type { ParseContext } from "./parse-context.ts";
import type { Slot } from "./template.ts";
import { parsePath } from "./value.ts";
import type { FanOut } from "./workflow.ts";

/** `parallel_over` and `max_concurrent` as one map has them; a `sub_workflow` block may have either beside its step. */
export interface FanOutKeys {
  readonly list: Slot | undefined;
  readonly maxConcurrent: number | undefined;
}

export function parseFanOutKeys(reader: MapReader, context: ParseContext): FanOutKeys {
  const maxConcurrent = reader.number("max_concurrent", { min: 1, max: 100_000, integer: true });
  return { list: parseList(reader, context), maxConcurrent };
}

/** The keys of the block go before those of the step. */
export function toFanOut(step: FanOutKeys, block: FanOutKeys | undefined): FanOut | undefined {
  const list = block?.list ?? step.list;
  const byDefault = block === undefined ? 500 : 5;
  const maxConcurrent = block?.maxConcurrent ?? step.maxConcurrent ?? byDefault;
  return list === undefined ? undefined : { list, maxConcurrent };
}

function parseList(reader: MapReader, context: ParseContext): Slot | undefined {
  const path = reader.text("parallel_over");
  const list = path && parsePath(path, "parallel_over", context);
  if (path === undefined || list === undefined) return undefined;
  const { reference } = list;
  if (reference.to === "step" || (reference.to === "input" && reference.path.length > 0)) return list;
  const message = `\`parallel_over\` takes a list from the input or from a step, not \`${toExcerpt(path.value)}\`.`;
  context.problems.error({ code: "EXPRESSION_INVALID", at: path.at, message });
  return undefined;
}
