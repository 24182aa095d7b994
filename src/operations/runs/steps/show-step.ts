import type { Handle } from "../../../core/history/run-state.ts";
import { findRun } from "../../application/find-run.ts";
import type { Stores } from "../../application/ports.ts";
import { describeError } from "../describe/describe-error.ts";
import { errorOf, outputOf, renderedIn, rendersPrompt, toPrompt } from "../describe/describe-run.ts";
import type { RunSources } from "../describe/describe-run-reading.ts";
import { attemptsOf, describeAttempt, describeSpan, type SpansReading } from "./describe-span.ts";
import { describeAsOf, readSpans, stepUnknown } from "./list-steps.ts";
import type { AttemptSpan } from "./run-spans.ts";
import { readSizedValue, type SizedValue } from "./sized-value.ts";
import type { InstanceNode, StepNode } from "./step-nodes.ts";
import type { StepDetail } from "./step-schemas.ts";

interface StepWanted {
  readonly path: string;
  readonly asOf?: number | undefined;
  /** Values of any size. */
  readonly isWhole: boolean;
}

/** Everything about one instance, or about a fan-out. Throws `RUN_NOT_FOUND`, `RUN_AMBIGUOUS`, `STEP_NOT_FOUND`. */
export async function showStep(app: Stores, id: string, { path, asOf, isWhole }: StepWanted): Promise<StepDetail> {
  const sources = await app.records();
  const reading = await readSpans(app, await findRun(app, id), asOf);
  const node = reading.nodes.find(path);
  if (node === undefined) throw stepUnknown(path);
  const output = await readSizedValue(sources, reading, { handle: outputAt(reading, node), isWhole });
  const { step } = node.is === "fan-out" ? node.step : node.entry.step;
  const { status, ...about } = describeAsOf(reading);
  return {
    ...describeSpan(reading, node),
    ...(node.is === "fan-out" ? NOTHING_OF_ITEMS : await describeValues(sources, reading, { node, isWhole })),
    ...about,
    run_status: status,
    place: step.place ?? null,
    graph: node.scope.frame.graph.hash,
    ...("value" in output ? { output_data: output.value } : {}),
    output_bytes: output.bytes,
  };
}

type OfInstance = Pick<StepDetail, "input" | "input_bytes" | "input_prompt" | "attempts" | "violations">;

const NOTHING_OF_ITEMS: OfInstance = { input: null, input_bytes: 0, input_prompt: null, attempts: [], violations: [] };

async function describeValues(
  sources: RunSources,
  reading: SpansReading,
  { node: { path, entry }, isWhole }: { readonly node: InstanceNode; readonly isWhole: boolean },
): Promise<OfInstance & Pick<StepDetail, "error">> {
  const { history } = entry;
  const spans = reading.spans.spansOf(path);
  const read = (handle: Handle) => readSizedValue(sources, reading, { handle, isWhole });
  const input = await read(history?.inputSeq || spans?.givenSeq || 0);
  const log = rendersPrompt(entry) ? await read(history?.logSeq ?? 0) : NOTHING;
  const attempts: StepDetail["attempts"][number][] = [];
  for (const span of attemptsOf(entry, spans?.attempts ?? [])) {
    const { value: details = null } = span.status === "failed" ? await read(span.endSeq) : NOTHING;
    const error = errorOfAttempt(reading, path, span);
    attempts.push({ ...describeAttempt(span), error, ...(details === null ? {} : { details }) });
  }
  return {
    ...("value" in input ? { input: input.value } : {}),
    input_bytes: input.bytes,
    input_prompt: renderedIn(log.value ?? null) ?? promptIn(entry.step.step.kind, input),
    attempts,
    violations: history?.decisions ?? [],
    error: errorOf(entry, reading),
  };
}

const NOTHING: SizedValue = { value: null, bytes: 0 };

/** Calls and people are given data. */
function promptIn(kind: string, { value }: SizedValue): string | null {
  return kind !== "task" || value === undefined ? null : toPrompt(value);
}

function errorOfAttempt({ record }: SpansReading, path: string, { failure }: AttemptSpan) {
  return failure === undefined ? null : describeError(failure, { run: record, path });
}

function outputAt({ nodes }: SpansReading, node: StepNode): Handle {
  if (node.is === "instance") return outputOf(node.entry);
  return { kind: "list", handles: [...nodes.itemsOf(node)].map(({ entry }) => outputOf(entry)) };
}
