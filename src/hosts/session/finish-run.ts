import { bind, loadHandle } from "../../core/binding/bind.ts";
import { collectOfHandle } from "../../core/binding/values-needed.ts";
import { isStorageFailure } from "../../core/errors/is-storage-failure.ts";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import { writeExact } from "../../core/exact-json.ts";
import type { Expr } from "../../core/expressions/expr.ts";
import { resolveEnv } from "../../core/expressions/resolve-env.ts";
import type { Command } from "../../core/history/commands.ts";
import type { Instance, RunState, Scope } from "../../core/history/run-state.ts";
import { explainHeld, type HeldStep } from "../../core/interpreter/attempt/crashes.ts";
import { resultOf } from "../../core/interpreter/flow/end-scope.ts";
import type { Json } from "../../core/json.ts";
import { refuseUngranted } from "../../core/trust/check-grant.ts";
import { grantOf } from "../../core/trust/grant.ts";
import type { Clock } from "../../ports/clock.ts";
import type { FileStorage } from "../../ports/file-storage.ts";
import type { NewOutbox } from "../../ports/journal.ts";
import { filesOfTenant } from "../tenant-files.ts";
import type { LiveRun } from "./live-run.ts";

type FinishRun = Extract<Command, { type: "finishRun" }>;

export interface FinishParts {
  readonly clock: Clock;
  readonly files: FileStorage;
  env(name: string): string | undefined;
}

/** Ends a run. The end is in one commit with the outbox: all that must happen after it. */
export async function finishRun(run: LiveRun, command: FinishRun, parts: FinishParts): Promise<void> {
  recordEnd(run, command, {
    ...parts,
    storage: await collectStorage(run, command, filesOfTenant(parts.files, run.tenantId)),
  });
}

/**
 * Ends a run in the commit of the event that caused the end, if nothing has to be read for that. It saves a commit, and is as
 * safe as the next one: nothing happens outside before it. False: nothing was done.
 */
export function finishRunAtOnce(run: LiveRun, command: FinishRun, parts: FinishParts): boolean {
  if (storagePathOf(run, command) !== undefined) return false;
  recordEnd(run, command, { ...parts, storage: NOT_STORED });
  return true;
}

function recordEnd(
  run: LiveRun,
  command: FinishRun,
  { clock, env, storage }: FinishParts & { readonly storage: Storage },
): void {
  run.addOutbox([...storage.entries, ...collectOutbox(run, command, env)]);
  const { type: _, ...end } = command;
  run.apply({ type: "runFinished", at: clock.now(), ...storage.problem, ...end });
}

/** The run's outputs by step id, or the result that a step has made. Loaded from the journal, never kept. */
export async function loadOutputs(run: Pick<LiveRun, "state" | "values">): Promise<Json> {
  const { root } = run.state;
  if (root === undefined) return {};
  const handle = resultOf(root);
  const seqs = new Set<number>();
  collectOfHandle(handle, seqs);
  return loadHandle(handle, await run.values.load({ scope: root, step: -1, item: -1 }, [], seqs));
}

interface Storage {
  readonly entries: readonly NewOutbox[];
  readonly problem?: { readonly code: string; readonly message: string };
}

const NOT_STORED: Storage = { entries: [] };

function storagePathOf(run: LiveRun, { status }: FinishRun): Expr | undefined {
  return hasCompleted(status) ? run.state.graph.graph.ending.storagePath : undefined;
}

/** If the outputs cannot be stored, the run still ends with its status, and its record says what is missing. */
async function collectStorage(run: LiveRun, command: FinishRun, files: FileStorage): Promise<Storage> {
  const { root } = run.state;
  const storagePath = storagePathOf(run, command);
  if (storagePath === undefined || root === undefined) return NOT_STORED;
  try {
    const path = toPath(await bindStoragePath(run, root, storagePath));
    refuseUngranted(grantOf(run.state.graph.graph.settings), "storage", path);
    // Checks the path as a write would: after the end there is no step to report it.
    await files.sizeOf(path);
    return { entries: [entry("storage", { path })] };
  } catch (error) {
    if (!isPawlError(error) || isStorageFailure(error)) throw error;
    return { entries: [], problem: { code: error.code, message: `The outputs are not stored: ${error.message}` } };
  }
}

function toPath(path: Json): string {
  if (typeof path === "string") return path;
  throw new PawlError("STORAGE_PATH_INVALID", { message: `${writeExact(path).slice(0, 100)} is no path.` });
}

function hasCompleted(status: FinishRun["status"]): boolean {
  return status === "completed" || status === "partial";
}

function collectOutbox(run: LiveRun, { status }: FinishRun, env: FinishParts["env"]): NewOutbox[] {
  const { ending } = run.state.graph.graph;
  const outbox: NewOutbox[] = [];
  const isComplete = hasCompleted(status);
  const event = isComplete ? "workflow.completed" : "workflow.failed";
  for (const url of webhooksOf(run, isComplete)) {
    // An unset variable means "not configured". The stored text has the name of the variable, never its value.
    if (resolveEnv(url, env).trim() !== "") outbox.push(entry("webhook", { event, url }));
  }
  const schedule = run.options["schedule_id"];
  if (typeof schedule === "string") outbox.push(entry("notify", { schedule }));
  if (ending.deadLetter) for (const failure of deadLetters(run.state)) outbox.push(entry("dead_letter", failure));
  return outbox;
}

/** `callback_url` takes the place of `on_complete.webhook`; `on_failure.webhook` is called in addition. */
function webhooksOf(run: LiveRun, isComplete: boolean): string[] {
  const { ending } = run.state.graph.graph;
  const callback = run.options["callback_url"];
  const completion = typeof callback === "string" ? callback : ending.completionWebhook;
  const urls = isComplete ? [completion] : [typeof callback === "string" ? callback : undefined, ending.failureWebhook];
  return urls.filter((url) => url !== undefined);
}

async function bindStoragePath(run: LiveRun, root: Scope, storagePath: Expr): Promise<Json> {
  const from = { scope: root, step: -1, item: -1 };
  const values = await run.values.load(from, [storagePath]);
  return bind({ state: run.state, from, values }, storagePath) ?? null;
}

function deadLetters(state: RunState): readonly { path: string; code: string; message: string }[] {
  return state.failures;
}

function entry(kind: string, body: Json): NewOutbox {
  return { kind, body: writeExact(body) };
}

/** The body about a held step in the outbox. */
export interface ToldHeld extends HeldStep {
  readonly event: "step.held";
  readonly url: string;
}

/** A dead letter that is there as long as the step is held. */
interface HeldLetter extends HeldStep {
  readonly isHeld: true;
}

/**
 * Queues what is told of a step that is held: webhooks as of a failure, and a dead letter, also where the workflow keeps none of
 * failures: only a person makes the step go on. Called right after the event that holds it, so that all is in one commit.
 */
export function tellHeld(run: LiveRun, instance: Instance, env: (name: string) => string | undefined): void {
  const held = explainHeld(instance);
  const { failureWebhook } = run.state.graph.graph.ending;
  const callback = run.options["callback_url"];
  for (const url of new Set([typeof callback === "string" ? callback : undefined, failureWebhook])) {
    if (url === undefined || resolveEnv(url, env).trim() === "") continue;
    const body: ToldHeld = { event: "step.held", url, ...held };
    run.addOutbox([{ kind: "webhook", body: writeExact(body) }]);
  }
  const letter: HeldLetter = { ...held, isHeld: true };
  run.addOutbox([{ kind: "dead_letter", body: writeExact(letter) }]);
}
