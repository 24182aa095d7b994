import type { Handle } from "../../../core/history/run-state.ts";
import { findRun } from "../../application/find-run.ts";
import type { Stores } from "../../application/ports.ts";
import { promptLogOf, renderedIn, toPrompt } from "../describe/describe-run.ts";
import { readSized, roomFor, type SizedValue } from "../describe/describe-run-reading.ts";
import { errorOf } from "../describe/describe-step.ts";
import type { StepEntry, StepNode } from "../describe/step-tree.ts";
import { describeAttempt, describeSpan, type SpansReading } from "./describe-span.ts";
import { describeAsOf, readSpans, stepUnknown } from "./list-steps.ts";
import type { StepDetail } from "./step-schemas.ts";

interface StepWanted {
  readonly path: string;
  readonly asOf?: number | undefined;
  /** Values of any size. */
  readonly isWhole: boolean;
}

/** Everything about one instance, or about a fan-out. Throws `RUN_NOT_FOUND`, `RUN_AMBIGUOUS`, `STEP_NOT_FOUND`. */
export async function showStep(app: Stores, id: string, { path, asOf, isWhole }: StepWanted): Promise<StepDetail> {
  const reading = await readSpans(app, await findRun(app, id), asOf);
  const node = reading.tree.find(path);
  if (node === undefined) throw stepUnknown(path);
  const read = async (handle: Handle) =>
    (await readSized(reading, [handle], roomFor(isWhole ? Number.POSITIVE_INFINITY : undefined)))(handle);
  const output = await read(outputAt(reading, node));
  const { status, ...about } = describeAsOf(reading);
  return {
    ...describeSpan(reading, node),
    ...(node.is === "fan-out" ? NOTHING_OF_ITEMS : await describeValues(reading, node, read)),
    ...about,
    run_status: status,
    place: node.step.step.place ?? null,
    graph: node.scope.frame.graph.hash,
    ...("value" in output ? { output_data: output.value } : {}),
    output_bytes: output.bytes,
  };
}

type OfInstance = Pick<StepDetail, "input" | "input_bytes" | "input_prompt" | "attempts" | "missing" | "violations">;

const NOTHING_OF_ITEMS: OfInstance = {
  input: null,
  input_bytes: 0,
  input_prompt: null,
  attempts: [],
  missing: [],
  violations: [],
};

async function describeValues(
  reading: SpansReading,
  entry: StepEntry,
  read: (handle: Handle) => Promise<SizedValue>,
): Promise<OfInstance & Pick<StepDetail, "error">> {
  const { path, history } = entry;
  const input = await read(history?.givenSeq ?? 0);
  const log = await read(promptLogOf(entry));
  const attempts: StepDetail["attempts"][number][] = [];
  for (const attempt of history?.begunAttempts ?? []) {
    const { value: details = null } = attempt.status === "failed" ? await read(attempt.endSeq) : NOTHING;
    const error = errorOf({ path, failure: attempt.failure }, reading.record);
    attempts.push({ ...describeAttempt(attempt), error, ...(details === null ? {} : { details }) });
  }
  return {
    ...("value" in input ? { input: input.value } : {}),
    input_bytes: input.bytes,
    input_prompt: renderedIn(log.value ?? null) ?? promptIn(entry.step.step.kind, input),
    attempts,
    missing: history?.missing ?? [],
    violations: history?.decisions ?? [],
    error: errorOf(entry, reading.record),
  };
}

const NOTHING: SizedValue = { value: null, bytes: 0 };

/** Calls and people are given data. */
function promptIn(kind: string, { value }: SizedValue): string | null {
  return kind !== "task" || value === undefined ? null : toPrompt(value);
}

function outputAt({ tree }: SpansReading, node: StepNode): Handle {
  if (node.is === "instance") return node.output;
  if (node.items === undefined) return 0;
  return { kind: "list", handles: [...tree.itemsOf(node)].map(({ output }) => output) };
}
