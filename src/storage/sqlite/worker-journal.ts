import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Journal } from "../../ports/journal.ts";
import { type JournalCall, journalOver } from "./journal-calls.ts";
import type { SqliteOptions } from "./open-database.ts";
import { type Reply, type Request, toError } from "./worker-messages.ts";

/**
 * Opens a SQLite journal on a thread of its own: a slow disk then does not hold up the event loop. Rejects with what
 * `openSqliteJournal` would throw.
 */
export async function openWorkerJournal(options: SqliteOptions): Promise<Journal> {
  const worker = new Worker(workerFile(), { workerData: options });
  const [opened]: Reply[] = await once(worker, "message");
  if (opened?.type !== "opened") {
    await worker.terminate();
    throw opened?.type === "notOpened" ? toError(opened.error) : new Error(`Not an opening: ${opened?.type}`);
  }
  const calls = new WorkerCalls(worker, options.path);
  return journalOver(opened.newestRun, async (call, parameters) => {
    const exited = call === "close" ? once(worker, "exit") : undefined;
    const value = await calls.send(call, parameters);
    await exited;
    return value;
  });
}

/** Calls that wait for their answer from the thread. */
class WorkerCalls {
  readonly #worker: Worker;
  readonly #path: string;
  readonly #pending = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  #lastId = 0;
  /** Set once the thread has ended: every later call is rejected with it. */
  #ended: Error | undefined;

  constructor(worker: Worker, path: string) {
    this.#worker = worker;
    this.#path = path;
    worker.on("message", (reply: Reply) => this.#settle(reply));
    worker.on("error", (error) => this.#end(error));
    worker.on("exit", () => this.#end(undefined));
  }

  async send(call: JournalCall, parameters: readonly unknown[]): Promise<unknown> {
    if (this.#ended !== undefined) throw this.#ended;
    this.#lastId += 1;
    const request: Request = { id: this.#lastId, call, parameters };
    const answer = new Promise((resolve, reject) => this.#pending.set(request.id, { resolve, reject }));
    this.#worker.postMessage(request);
    return answer;
  }

  #settle(reply: Reply): void {
    if (reply.type !== "returned" && reply.type !== "threw") return;
    const call = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    if (reply.type === "returned") call?.resolve(reply.value);
    else call?.reject(toError(reply.error));
  }

  #end(cause: unknown): void {
    this.#ended ??= new PawlError("JOURNAL_IO", { message: `${this.#path}: the journal's thread has ended.`, cause });
    for (const call of this.#pending.values()) call.reject(this.#ended);
    this.#pending.clear();
  }
}

/** Beside this file, as source or as built. */
function workerFile(): URL {
  const isSource = import.meta.url.endsWith(".ts");
  return isSource ? new URL("./worker-main.ts", import.meta.url) : new URL("./worker-main.js", import.meta.url);
}
