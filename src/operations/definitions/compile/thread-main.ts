import { parentPort } from "node:worker_threads";
import type { CompiledDefinition } from "../../../hosts/compiled-definition.ts";
import type { TextValidation } from "../workflow-schemas.ts";
import { describeWhole } from "./describe-whole.ts";
import { checkWholeText, type DefinitionReport, reportOnText, type TextOrigin } from "./report-on-text.ts";

/** Objects and lists: a step has 10 to 100. */
const MAX_GRAPH_PARTS = 50_000;

export interface CompileJob {
  readonly kind: "report" | "validate";
  readonly text: string;
  /** Tell what the workflows do. */
  readonly withGraph?: boolean;
  readonly origin: Omit<TextOrigin, "read" | "hasChromium"> & { readonly canPrint: boolean };
}

/** Empty where a graph has too many parts. */
export interface CompileAnswer {
  readonly report?: DefinitionReport;
  readonly validation?: TextValidation;
  /** Of the validated text. */
  readonly definitions?: readonly CompiledDefinition[];
}

/** Does one job, however long it takes. `report-on-sent.ts` starts this thread, and ends it. */
async function perform({ kind, text, withGraph, origin: { canPrint, ...data } }: CompileJob): Promise<CompileAnswer> {
  const origin: TextOrigin = { ...data, hasChromium: () => canPrint };
  if (kind === "validate") {
    const whole = await checkWholeText(text, origin);
    const { definitions } = whole;
    return definitions.some(hasTooManyParts) ? {} : { validation: describeWhole(whole, { withGraph }), definitions };
  }
  const report = await reportOnText(text, origin);
  return report.definition !== undefined && hasTooManyParts(report.definition) ? {} : { report };
}

/** The event loop that asks takes the graph over, and later stores it: each part costs it a microsecond or two. */
function hasTooManyParts({ graph }: CompiledDefinition): boolean {
  const inside: unknown[] = [graph];
  let parts = 0;
  while (inside.length > 0) {
    const next = inside.pop();
    if (typeof next !== "object" || next === null) continue;
    parts += 1;
    if (parts > MAX_GRAPH_PARTS) return true;
    for (const part of Object.values(next)) inside.push(part);
  }
  return false;
}

parentPort?.on("message", (job: CompileJob) => {
  void perform(job).then((answer) => parentPort?.postMessage(answer));
});
parentPort?.postMessage("ready");
