import { PawlError } from "../../../core/errors/pawl-error.ts";
import { toIsoTime } from "../../../core/iso-time.ts";
import type { RunRecord } from "../../../ports/journal.ts";
import { passTurn } from "../../../ports/turns.ts";
import { findRun } from "../../application/find-run.ts";
import type { Stores } from "../../application/ports.ts";
import { statusOfRun } from "../describe/describe-run.ts";
import { readRunHistory } from "../describe/describe-run-reading.ts";
import { type StepNode, StepTree } from "../describe/step-tree.ts";
import type { StepStatus } from "../run-schemas.ts";
import { describeSpan, type SpansReading, sumCosts } from "./describe-span.ts";
import type { StepSpansPage } from "./step-schemas.ts";

export interface StepsWanted {
  readonly limit: number;
  /** The path of the last one of the page before. */
  readonly cursor?: string | undefined;
  readonly status?: readonly StepStatus[] | undefined;
  readonly under?: string | undefined;
  readonly asOf?: number | undefined;
}

/** Throws `RUN_NOT_FOUND`, `RUN_AMBIGUOUS`, `STEP_NOT_FOUND`, and `REQUEST_INVALID` for a cursor that names no step. */
export async function listSteps(app: Stores, id: string, wanted: StepsWanted): Promise<StepSpansPage> {
  const record = await findRun(app, id);
  const reading = await readSpans(app, record, wanted.asOf);
  const found = await takeNodes(reading, nodesOf(reading, wanted.under), wanted);
  const shown = found.slice(0, wanted.limit);
  const last = found.length > shown.length ? shown.at(-1) : undefined;
  const items = shown.map((node) => describeSpan(reading, node));
  return { ...describeAsOf(reading), items, next_cursor: last?.path ?? null };
}

/** A run as of an event; of a later one than the newest, as it is now. */
export async function readSpans(app: Stores, record: RunRecord, asOf?: number): Promise<SpansReading> {
  const reading = await readRunHistory(await app.records(), record, { upTo: asOf });
  return { ...reading, tree: new StepTree(reading.history), costs: sumCosts(reading.history) };
}

export function describeAsOf(reading: SpansReading) {
  const { record, history } = reading;
  const { seq, now } = history.state;
  return {
    run_id: record.id,
    status: statusOfRun(reading),
    as_of: seq,
    last_seq: Math.max(record.lastSeq, seq),
    at: toIsoTime(now),
  };
}

export function stepUnknown(path: string): PawlError {
  return new PawlError("STEP_NOT_FOUND", { message: `There is no step at "${path}" in this run, as of that event.` });
}

function nodesOf({ tree }: SpansReading, under: string | undefined): Iterable<StepNode> {
  if (under === undefined) return tree.nodes();
  const found = tree.under(under);
  if (found === undefined) throw stepUnknown(under);
  return found;
}

const NODES_IN_TURN = 1_000;

/** One more than the limit, to know whether there are more. */
async function takeNodes(
  reading: SpansReading,
  nodes: Iterable<StepNode>,
  { limit, cursor, status }: StepsWanted,
): Promise<readonly StepNode[]> {
  const taken: StepNode[] = [];
  let isBehind = cursor === undefined;
  let looked = 0;
  for (const node of nodes) {
    looked += 1;
    if (looked % NODES_IN_TURN === 0) await passTurn();
    if (isBehind && hasStatus(reading, node, status)) taken.push(node);
    if (taken.length > limit) return taken;
    isBehind ||= node.path === cursor;
  }
  if (isBehind) return taken;
  throw new PawlError("REQUEST_INVALID", {
    message: "The cursor names a step that is not there.",
    remedy: "Begin with the first page: leave `cursor` out.",
  });
}

/** A fan-out has the status of each of its items. */
function hasStatus({ tree }: SpansReading, node: StepNode, status: readonly StepStatus[] | undefined): boolean {
  if (status === undefined) return true;
  if (node.is === "instance") return status.includes(node.status);
  for (const item of tree.itemsOf(node)) if (status.includes(item.status)) return true;
  return false;
}
