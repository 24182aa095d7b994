import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Event } from "../../src/core/history/events.ts";
import type { Json } from "../../src/core/json.ts";
import type { Journal, RunRecord } from "../../src/ports/journal.ts";
import { type Owner, readEffects } from "./data-directory.ts";
import { ONCE, type SideEffect, withoutRunId } from "./workload.ts";

/** Everything about a finished run that must not depend on how often it was cut. */
export interface RunEnd {
  readonly status: string;
  readonly outputs: Json;
  /** Instances that brought something, and how they ended. Sorted. */
  readonly ended: readonly string[];
  readonly outbox: readonly string[];
}

/** Reads the end of a run and throws where its record breaks a promise on the way. */
export async function readEnd(
  owner: Owner,
  dataDir: string,
  runId: string,
  { effects: memory }: { readonly effects: "kept" | "forgotten" } = { effects: "kept" },
): Promise<RunEnd> {
  const record = await findRun(owner.journal, runId);
  const rows = await owner.journal.readEvents(record.no, { afterSeq: 0, limit: 100_000 });
  const events = rows.map(({ event }) => event);
  const effects = readEffects(dataDir).filter(({ run }) => run === runId);
  const broken = [...brokenPromises(events), ...(memory === "kept" ? brokenEffects(events, effects) : [])];
  if (broken.length > 0) throw new Error(`${runId}: ${broken.join("; ")}`);
  const outputs = JSON.parse(readFileSync(join(dataDir, "storage", "results", `${runId}.json`), "utf8")) as Json;
  const outbox = await owner.journal.readOutbox({ limit: 1_000 });
  return {
    status: record.status,
    outputs: withoutRunId(outputs, runId),
    ended: endedInstances(events),
    outbox: outbox.filter(({ run }) => run === record.no).map(({ kind, body }) => `${kind} ${body}`),
  };
}

async function findRun(journal: Journal, runId: string): Promise<RunRecord> {
  const record = await journal.findRun(runId);
  if (record === undefined || record === "ambiguous") throw new Error(`The run ${runId} is gone.`);
  return record;
}

function* brokenPromises(events: readonly Event[]): Iterable<string> {
  if (events.filter(({ type }) => type === "runFinished").length !== 1 || events.at(-1)?.type !== "runFinished") {
    yield "the run has not ended exactly once";
  }
  const outcomes = new Map<string, number>();
  const succeeded = new Set<string>();
  for (const event of events) {
    if (event.type !== "stepSucceeded" && event.type !== "stepFailed") continue;
    const attempt = `${event.path} (${event.attempt})`;
    outcomes.set(attempt, (outcomes.get(attempt) ?? 0) + 1);
    if (succeeded.has(event.path)) yield `${event.path} has an outcome after its success`;
    if (event.type === "stepSucceeded") succeeded.add(event.path);
  }
  for (const [attempt, count] of outcomes) if (count > 1) yield `${attempt} has ${count} outcomes`;
  const answers = events.filter(({ type }) => type === "approvalAnswered" || type === "signalReceived");
  if (answers.length !== 2) yield `${answers.length} answers and signals instead of one each`;
}

function* brokenEffects(events: readonly Event[], effects: readonly SideEffect[]): Iterable<string> {
  const attempts = new Set<string>();
  const keys = new Map<string, Set<string>>();
  for (const { path, attempt, key } of effects) {
    const executed = `${path} (${attempt})`;
    if (attempts.has(executed)) yield `${executed} was executed twice`;
    attempts.add(executed);
    keys.set(path, (keys.get(path) ?? new Set()).add(key));
  }
  // Each of its two failures has certainly done nothing: three generations. Of all others it is one and the same effect.
  for (const [path, seen] of keys) {
    const expected = path === "flaky" ? 3 : 1;
    if (seen.size !== expected) yield `${path} had ${seen.size} idempotency keys`;
  }
  if (effects.filter(({ path }) => path === ONCE).length > 1) yield `${ONCE} was executed more than once`;
  for (const event of events) {
    // Only a task's outcome says when it began.
    const isTask = event.type === "stepSucceeded" && event.startedAt !== undefined;
    if (isTask && !attempts.has(`${event.path} (${event.attempt})`))
      yield `${event.path} has succeeded without being executed`;
  }
}

/** Without the step whose cut is caught: whether that happened is chance. */
function endedInstances(events: readonly Event[]): readonly string[] {
  const ended = new Map<string, string>();
  for (const event of events) {
    if (event.type === "stepSucceeded") ended.set(event.path, "succeeded");
    if (event.type === "stepFailed") ended.set(event.path, event.code);
  }
  return [...ended]
    .filter(([path]) => path !== ONCE && !path.startsWith(`${ONCE}~`))
    .map(([path, end]) => `${path} ${end}`)
    .sort();
}
