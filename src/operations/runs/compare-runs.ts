import { z } from "zod";
import { parseExact, writeExact } from "../../core/exact-json.ts";
import type { Json } from "../../core/json.ts";
import type { RunRecord } from "../../ports/journal.ts";
import { passTurn } from "../../ports/turns.ts";
import { findRun } from "../application/find-run.ts";
import type { Stores } from "../application/ports.ts";
import type { Frozen } from "../schemas.ts";
import { describeRun } from "./describe/describe-run.ts";
import type { RunDescription, StepDescription } from "./run-schemas.ts";

interface Pair<Value> {
  readonly a: Value;
  readonly b: Value;
}

const changeSchema = z.object({ changed: z.boolean(), diff: z.string().nullable() });
const pairOf = <Value extends z.ZodType>(value: Value) => z.object({ a: value, b: value });

const stepComparisonSchema = z.object({
  path: z.string(),
  only_in: z.enum(["a", "b"]).nullable(),
  status: pairOf(z.string().nullable()),
  output_changed: z.boolean(),
  output_diff: z.string().nullable().describe("Unified; null: none, or too large to be shown."),
  prompt_changed: z.boolean(),
  cost_usd_delta: z.number().nullable(),
});

/** Steps in the order of `a`, then those that only `b` has; at most 1,000. */
export const comparisonSchema = z
  .object({
    run_id: pairOf(z.string()),
    workflow_name: pairOf(z.string()),
    status: pairOf(z.string()),
    total_cost_usd: pairOf(z.number()).extend({ delta: z.number() }),
    duration_seconds: pairOf(z.number().nullable()),
    definition: changeSchema,
    input: changeSchema,
    outputs: changeSchema,
    steps: z.array(stepComparisonSchema),
    steps_left_out: z.int(),
  })
  .meta({ id: "RunComparison", description: "How two runs differ." });

export type RunComparison = Frozen<z.output<typeof comparisonSchema>>;
export type StepComparison = RunComparison["steps"][number];

const MAX_STEPS = 1_000;

/** Stands with its hash for a value that is too large to be compared as a text. */
const LARGE = "\u0000value ";

export async function compareRuns(app: Stores, idA: string, idB: string): Promise<RunComparison> {
  const records = { a: await findRun(app, idA), b: await findRun(app, idB) };
  const { journal } = await app.records();
  // A large value is compared by its hash, and is not read.
  const sources = { journal, blobs: { get: async (sha256: string) => Buffer.from(writeExact(LARGE + sha256)) } };
  const a = await describeRun(sources, records.a, { mostBytes: Number.POSITIVE_INFINITY });
  const b = await describeRun(sources, records.b, { mostBytes: Number.POSITIVE_INFINITY });
  const paths = [...new Set([...a.steps, ...b.steps].map(({ path }) => path))];
  const [inA, inB] = [byPath(a), byPath(b)];
  const steps: StepComparison[] = [];
  for (const path of paths.slice(0, MAX_STEPS)) {
    steps.push(await compareSteps(path, inA.get(path), inB.get(path)));
    await passTurn();
  }
  return {
    run_id: { a: a.run_id, b: b.run_id },
    workflow_name: { a: a.workflow_name, b: b.workflow_name },
    status: { a: a.status, b: b.status },
    total_cost_usd: { a: a.total_cost_usd, b: b.total_cost_usd, delta: minus(b.total_cost_usd, a.total_cost_usd) },
    duration_seconds: { a: durationOf(records.a), b: durationOf(records.b) },
    definition: await compareDefinitions(app, records),
    input: await compareValues(a.input_data, b.input_data),
    outputs: await compareValues(a.outputs, b.outputs),
    steps,
    steps_left_out: Math.max(0, paths.length - MAX_STEPS),
  };
}

function byPath({ steps }: RunDescription): ReadonlyMap<string, StepDescription> {
  return new Map(steps.map((step) => [step.path, step]));
}

async function compareSteps(
  path: string,
  a: StepDescription | undefined,
  b: StepDescription | undefined,
): Promise<StepComparison> {
  const output = await compareValues(a?.output_data ?? null, b?.output_data ?? null);
  const isPriced = a?.cost_usd !== null && b?.cost_usd !== null;
  return {
    path,
    only_in: a === undefined ? "b" : b === undefined ? "a" : null,
    status: { a: a?.status ?? null, b: b?.status ?? null },
    output_changed: output.changed,
    output_diff: output.diff,
    prompt_changed: isAsked(a) && isAsked(b) && a?.input_prompt !== b?.input_prompt,
    cost_usd_delta: isPriced ? minus(b?.cost_usd ?? 0, a?.cost_usd ?? 0) : null,
  };
}

/** A step that was taken over was not asked again, so it has no prompt. */
function isAsked(step: StepDescription | undefined): boolean {
  return step !== undefined && step.input_prompt !== null;
}

/** The graph decides: it holds prompts and scripts as well, and what a fork has changed. */
async function compareDefinitions(app: Stores, { a, b }: Pair<RunRecord>) {
  if (a.graph === b.graph) return { changed: false, diff: null };
  const { journal } = await app.records();
  const [before, after] = [await journal.readPinned(a.definition), await journal.readPinned(b.definition)];
  if (before !== after) return { changed: true, diff: await diff(before ?? "", after ?? "") };
  const graphs = [await journal.readPinned(a.graph), await journal.readPinned(b.graph)];
  const [graphA = "null", graphB = "null"] = graphs;
  return { changed: true, diff: await diff(pretty(parseExact(graphA)), pretty(parseExact(graphB))) };
}

async function compareValues(a: Json, b: Json) {
  const [before, after] = [pretty(a), pretty(b)];
  if (before === after) return { changed: false, diff: null };
  return { changed: true, diff: await diff(before, after) };
}

function pretty(value: Json): string {
  return typeof value === "string" ? value : writeExact(value, 2);
}

const MAX_TEXT = 64 * 1024;
const MAX_DIFF = 4_000;
/** How different two texts may be before looking for what they share is given up. */
const MAX_EDITS = 2_000;

async function diff(before: string, after: string): Promise<string | null> {
  if (before.length + after.length > 2 * MAX_TEXT || (before + after).includes(LARGE)) return null;
  const { createTwoFilesPatch } = await import("diff");
  const options = { context: 2, maxEditLength: MAX_EDITS };
  const patch = createTwoFilesPatch("a", "b", `${before}\n`, `${after}\n`, undefined, undefined, options);
  if (patch === undefined) return null;
  const body = patch.slice(patch.indexOf("@@"));
  return body.length > MAX_DIFF ? `${body.slice(0, MAX_DIFF)}\n...` : body;
}

function durationOf({ startedAt, completedAt }: RunRecord): number | null {
  return startedAt === undefined || completedAt === undefined ? null : (completedAt - startedAt) / 1_000;
}

/** In whole micro-dollars, so that nothing is left of binary fractions. */
function minus(a: number, b: number): number {
  return (Math.round(a * 1_000_000) - Math.round(b * 1_000_000)) / 1_000_000;
}
