import type { Event } from "../../../src/core/history/events.ts";
import type { Json } from "../../../src/core/json.ts";
import type { RunDescription } from "../../../src/operations/runs/run-schemas.ts";
import { findMarked, waitUntil } from "../../sandbox/marked-processes.ts";
import { type LedgerCall, readLedger, showRun } from "./every-step-process.ts";
import { JournalView } from "./journal-view.ts";
import type { Death } from "./run-with-kills.ts";

/** Everything about the finished run that must not depend on how often it was cut. */
export interface EveryStepEnd {
  readonly status: string;
  readonly outputs: Json;
  /** In the order in which they stand in the run. */
  readonly steps: readonly { readonly path: string; readonly status: string; readonly output: Json; code?: string }[];
  /** What the MCP server was asked for, each effect once. Sorted. */
  readonly effects: readonly string[];
}

/** Reads the end of the only run, and throws where its record or its effects break a promise. */
export async function readEnd(dataDir: string, deaths: readonly Death[]): Promise<EveryStepEnd> {
  const view = new JournalView(dataDir);
  const events = await view.events();
  const runId = (await view.run())?.id ?? "";
  await view.close();
  const calls = readLedger(dataDir);
  const broken = [...brokenRecord(events), ...brokenEffects(events, calls), ...repeated({ events, calls, deaths })];
  if (broken.length > 0) throw new Error(broken.join("\n"));
  // Servers have the path of the ledger in their environment; scripts were looked for when their process ended.
  await waitUntil(`no process of ${dataDir} is left`, () => findMarked(dataDir).length === 0);
  const { stdout } = await showRun(dataDir, runId);
  const { data } = JSON.parse(stdout) as { readonly data: RunDescription };
  return {
    status: data.status,
    outputs: data.outputs,
    steps: data.steps.map(({ path, status, output_data: output, error }) => {
      return { path, status, output, ...(error === null ? {} : { code: error.code }) };
    }),
    effects: [...new Set(calls.map(({ key, what }) => `${pathOf(key)} ${what}`))].sort(),
  };
}

function* brokenRecord(events: readonly Event[]): Iterable<string> {
  if (events.at(-1)?.type !== "runFinished") yield "the run has not ended";
  const outcomes = new Set<string>();
  const succeeded = new Set<string>();
  const turns = new Set<string>();
  for (const event of events) {
    if (!("path" in event) || !("attempt" in event)) continue;
    const { path, attempt, type } = event;
    // What a task has said may be written down after its outcome.
    if (succeeded.has(path) && type !== "stepLogged") yield `${path} has ${type} after its success`;
    if (type === "stepRecorded") {
      const turn = `${path} ${event.key}`;
      if (turns.has(turn)) yield `${turn} was asked for twice`;
      turns.add(turn);
    }
    if (type !== "stepSucceeded" && type !== "stepFailed") continue;
    if (outcomes.has(`${path} (${attempt})`)) yield `${path} (${attempt}) has two outcomes`;
    outcomes.add(`${path} (${attempt})`);
    if (type === "stepSucceeded") succeeded.add(path);
  }
  if (!turns.has("compose#1 turn-1")) yield "the model's turns were not recorded";
}

/** A call may be made again where its attempt was cut off or has failed: with the same key, unless the failure was an answer. */
function* brokenEffects(events: readonly Event[], calls: readonly LedgerCall[]): Iterable<string> {
  const keys = new Map<string, Set<string>>();
  for (const { key } of calls) keys.set(pathOf(key), (keys.get(pathOf(key)) ?? new Set()).add(key));
  for (const [path, seen] of keys) {
    const answered = events.filter(
      (event) => event.type === "stepFailed" && event.path === path && event.answered,
    ).length;
    if (seen.size > 1 + answered) yield `${path} had too many idempotency keys: ${[...seen].join(", ")}`;
    const made = calls.filter(({ key }) => pathOf(key) === path).length;
    const allowed = events.filter((event) => {
      const ends = event.type === "stepSucceeded" || event.type === "stepFailed" || event.type === "stepInterrupted";
      return ends && event.path === path;
    }).length;
    if (made > allowed) yield `${path} was called ${made} times for ${allowed} attempts`;
  }
}

interface History {
  readonly events: readonly Event[];
  readonly calls: readonly LedgerCall[];
  readonly deaths: readonly Death[];
}

/** What had succeeded when the process died is not done again. */
function* repeated({ events, calls, deaths }: History): Iterable<string> {
  for (const death of deaths) {
    const before = events.slice(0, death.events);
    const succeeded = new Set(before.flatMap((event) => (event.type === "stepSucceeded" ? [event.path] : [])));
    for (const { key } of calls.slice(death.calls)) {
      if (succeeded.has(pathOf(key))) yield `${pathOf(key)} was called again after it had succeeded`;
    }
  }
}

/** A key is made of run, path and generation. */
function pathOf(key: string): string {
  return key.slice(key.indexOf(":") + 1, key.lastIndexOf(":"));
}
