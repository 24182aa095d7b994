import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { ChurnMap } from "../../core/churn-map.ts";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Journal } from "../../ports/journal.ts";
import { type JournalWriter, writeThrough } from "../../storage/sqlite/sqlite-journal.ts";
import {
  JOURNAL_WRITES,
  type ThreadCall,
  type ThreadFiles,
  type ThreadRecords,
  type ThreadReply,
  toError,
} from "./messages.ts";

const MAIN = new URL("./thread-main.ts", import.meta.url);

/**
 * Writes on a thread of its own, so that a slow disk and the locks of other processes hold up what waits for a write, and
 * nothing else. Reads stay where they are: in WAL mode they wait for no writer.
 */
export class StorageThread {
  readonly #worker: Worker;
  readonly #path: string;
  #pending = new ChurnMap<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  #lastId = 0;
  #isClosing = false;
  /** Every later call fails with it. */
  #ended: Error | undefined;

  constructor(files: ThreadFiles) {
    this.#path = files.journal;
    this.#worker = new Worker(MAIN, { workerData: files });
    this.#worker.on("message", (reply: ThreadReply) => this.#settle(reply));
    this.#worker.on("error", (error) => this.#end(error));
    this.#worker.on("exit", () => this.#end(undefined));
    this.#worker.unref();
  }

  /** The same journal, which reads here and writes there. `inner` is open. To close it ends the thread, after the writes that it was asked for. */
  journal(inner: Journal): Journal {
    const writes = JOURNAL_WRITES.map((method) => {
      return [method, (...parameters: unknown[]) => this.#call("journal", method, parameters)];
    });
    return {
      ...inner,
      ...writeThrough(Object.fromEntries(writes) as JournalWriter),
      commitsAtOnce: 2,
      close: async () => {
        await inner.close();
        await this.#close();
      },
    };
  }

  /** Has a call of records done there. Undefined: the thread has ended, as it does before its process. */
  write(of: keyof ThreadRecords, method: string, parameters: readonly unknown[]): Promise<unknown> | undefined {
    return this.#isClosing ? undefined : this.#call(of, method, parameters);
  }

  async #close(): Promise<void> {
    if (this.#isClosing) return;
    this.#isClosing = true;
    if (this.#ended !== undefined) return;
    const ended = once(this.#worker, "exit");
    this.#worker.ref();
    this.#worker.postMessage("close");
    await ended;
  }

  async #call(of: ThreadCall["of"], method: string, parameters: readonly unknown[]): Promise<unknown> {
    if (this.#ended !== undefined) throw this.#ended;
    this.#lastId += 1;
    const call: ThreadCall = { id: this.#lastId, of, method, parameters };
    // It keeps the process alive while a caller waits for it.
    if (this.#pending.size === 0) this.#worker.ref();
    return new Promise((resolve, reject) => {
      this.#pending.set(call.id, { resolve, reject });
      this.#worker.postMessage(call);
    });
  }

  #settle(reply: ThreadReply): void {
    const call = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    if (this.#pending.size === 0 && !this.#isClosing) this.#worker.unref();
    if ("failure" in reply) call?.reject(toError(reply.failure));
    else call?.resolve(reply.value);
  }

  #end(cause: unknown): void {
    this.#ended ??= new PawlError("JOURNAL_IO", { message: `${this.#path}: the thread that writes has ended.`, cause });
    for (const call of this.#pending.values()) call.reject(this.#ended);
    this.#pending = new ChurnMap();
  }
}
