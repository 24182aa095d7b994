import { PawlError } from "../../../core/errors/pawl-error.ts";
import { viewOf } from "../../../core/interpreter/lookup.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Progress } from "../../../ports/executor.ts";
import type { FileStorage } from "../../../ports/file-storage.ts";
import { filesOfTenant } from "../../tenant-files.ts";
import type { OutputPolicies } from "../policies/output-policies.ts";
import { maskJson } from "../values/mask-json.ts";
import { toStoredValue, type ValueWriter } from "../values/stored-value.ts";
import { LiveText, type PieceMask } from "./live-text.ts";
import type { RunningTask, TaskControl } from "./running-task.ts";

export interface TaskServicesParts {
  readonly clock: Clock;
  /** Where what steps produce becomes artifacts. */
  readonly files: FileStorage;
  readonly writer: ValueWriter;
  /** For each text that comes in pieces. */
  maskPieces(): PieceMask;
  /** Of what steps bring. */
  readonly policies: OutputPolicies;
}

const MAX_LOG_ENTRIES = 10_000;

/** What an executor may ask for while it works: to tell how far it is, to keep records, and the files of its run. */
export class TaskServices implements TaskControl {
  readonly #parts: TaskServicesParts;

  constructor(parts: TaskServicesParts) {
    this.#parts = parts;
  }

  filesFor({ run }: RunningTask): FileStorage {
    return filesOfTenant(this.#parts.files, run.tenantId);
  }

  emit(task: RunningTask, progress: Progress): void {
    const { run, path, attempt } = task;
    if (task.isAbandoned) return;
    if (progress.type === "cost") {
      task.reportedMicro += progress.costMicro;
      run.apply({ type: "costReported", at: this.#parts.clock.now(), path, attempt, costMicro: progress.costMicro });
      return;
    }
    if (progress.type === "call") return run.noteCall({ ...progress.call, path, attempt });
    if (progress.type === "live") return this.#showLive(task, progress.event);
    task.log ??= [];
    const event = this.#parts.policies.clean(task, progress.event);
    if (task.log.length < MAX_LOG_ENTRIES) task.log.push(event);
    if (run.isWatched) run.notify({ type: "progress", path, attempt, event: this.#masked(event) });
  }

  /** Nobody watches: nothing is kept for whoever comes later. */
  #showLive(task: RunningTask, event: JsonObject): void {
    const { run, path, attempt } = task;
    // Text that comes in pieces cannot be searched.
    if (!run.isWatched || this.#parts.policies.redacts(task)) return;
    const { writer, maskPieces } = this.#parts;
    task.live ??= new LiveText({ whole: (text) => writer.mask(text), text: maskPieces() }, (shown) =>
      run.notify({ type: "live", path, attempt, event: shown }),
    );
    task.live.show(event);
  }

  #masked(event: Json): Json {
    return maskJson(event, (text) => this.#parts.writer.mask(text)).value;
  }

  async record(task: RunningTask, key: string, value: Json): Promise<void> {
    const { run, path, attempt } = task;
    const stored = await toStoredValue(this.#parts.policies.clean(task, value), this.#parts.writer);
    if (stored === "too large") {
      throw new PawlError("OUTPUT_TOO_LARGE", { message: `The record "${key}" of "${path}" is too large.` });
    }
    if (run.isDiscarded) throw new PawlError("OWNER_GONE", { message: `"${path}" is no longer driven here.` });
    run.apply({ type: "stepRecorded", at: this.#parts.clock.now(), path, attempt, key }, stored.stored);
    await run.durable();
  }

  async recorded({ run, instance }: RunningTask, key: string): Promise<Json | undefined> {
    const seq = instance.records?.get(key);
    if (seq === undefined) return undefined;
    const values = await run.values.load(viewOf(instance), [], new Set([seq]));
    return values.value(seq);
  }
}
