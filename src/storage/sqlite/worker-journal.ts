import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type {
  Append,
  AppendResult,
  EventRow,
  Journal,
  LogPage,
  LogPosition,
  LogQuery,
  OutboxQuery,
  OutboxRecord,
  RunFilter,
  RunNo,
  RunRecord,
  RunSelection,
  ViolationFilter,
  ViolationRecord,
} from "../../ports/journal.ts";
import type { SqliteOptions } from "./open-database.ts";
import { type Method, type RemoteJournal, type Reply, type Request, toError } from "./worker-messages.ts";

interface PendingCall {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** A `SqliteJournal` on a thread of its own: a slow disk then does not hold up the event loop. */
export class WorkerJournal implements Journal {
  readonly #worker: Worker;
  readonly #path: string;
  readonly #pending = new Map<number, PendingCall>();
  #lastReserved: RunNo;
  #lastCall = 0;
  /** Set once the thread has ended: every later call is rejected with it. */
  #ended: Error | undefined;

  /** Rejects with what `SqliteJournal.open` would throw. */
  static async open(options: SqliteOptions): Promise<WorkerJournal> {
    const worker = new Worker(workerFile(), { workerData: options });
    const [reply]: Reply[] = await once(worker, "message");
    if (reply?.type === "opened") return new WorkerJournal(worker, { path: options.path, newestRun: reply.newestRun });
    await worker.terminate();
    throw reply?.type === "notOpened" ? toError(reply.error) : new Error(`Not an opening: ${reply?.type}`);
  }

  private constructor(worker: Worker, { path, newestRun }: { path: string; newestRun: RunNo }) {
    this.#worker = worker;
    this.#path = path;
    this.#lastReserved = newestRun;
    worker.on("message", (reply: Reply) => this.#settle(reply));
    worker.on("error", (error) => this.#end(error));
    worker.on("exit", () => this.#end(undefined));
  }

  reserveRun(): RunNo {
    this.#lastReserved += 1;
    return this.#lastReserved;
  }

  append(entries: readonly Append[]): Promise<readonly AppendResult[]> {
    return this.#call("append", entries);
  }

  readEvents(run: RunNo, options: { afterSeq: number; limit: number }): Promise<readonly EventRow[]> {
    return this.#call("readEvents", run, options);
  }

  readValue(run: RunNo, seq: number): Promise<string | undefined> {
    return this.#call("readValue", run, seq);
  }

  readValues(run: RunNo, seqs: readonly number[]): Promise<ReadonlyMap<number, string>> {
    return this.#call("readValues", run, seqs);
  }

  readLog(query: LogQuery): Promise<LogPage> {
    return this.#call("readLog", query);
  }

  findCommit(commit?: number): Promise<LogPosition | undefined> {
    return this.#call("findCommit", commit);
  }

  listViolations(filter: ViolationFilter): Promise<readonly ViolationRecord[]> {
    return this.#call("listViolations", filter);
  }

  findRun(idOrPrefix: string): Promise<RunRecord | "ambiguous" | undefined> {
    return this.#call("findRun", idOrPrefix);
  }

  readRun(run: RunNo): Promise<RunRecord | undefined> {
    return this.#call("readRun", run);
  }

  listRuns(filter: RunFilter): Promise<readonly RunRecord[]> {
    return this.#call("listRuns", filter);
  }

  countRuns(selection: RunSelection): Promise<number> {
    return this.#call("countRuns", selection);
  }

  countApprovals(): Promise<number> {
    return this.#call("countApprovals");
  }

  listDue(options: { now: number; afterRun: RunNo; limit: number }): Promise<readonly RunRecord[]> {
    return this.#call("listDue", options);
  }

  nextWakeAt(): Promise<number | undefined> {
    return this.#call("nextWakeAt");
  }

  readPinned(hash: string): Promise<string | undefined> {
    return this.#call("readPinned", hash);
  }

  readOutbox(options: OutboxQuery): Promise<readonly OutboxRecord[]> {
    return this.#call("readOutbox", options);
  }

  finishOutbox(ids: readonly number[]): Promise<void> {
    return this.#call("finishOutbox", ids);
  }

  deleteRun(run: RunNo): Promise<boolean> {
    return this.#call("deleteRun", run);
  }

  async close(): Promise<void> {
    const exited = once(this.#worker, "exit");
    await this.#call("close");
    await exited;
  }

  async #call<M extends Method>(method: M, ...parameters: Parameters<RemoteJournal[M]>): Promise<Answer<M>> {
    if (this.#ended !== undefined) throw this.#ended;
    this.#lastCall += 1;
    const request: Request = { id: this.#lastCall, method, parameters };
    const answer = new Promise((resolve, reject) => this.#pending.set(request.id, { resolve, reject }));
    this.#worker.postMessage(request);
    return (await answer) as Answer<M>;
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

type Answer<M extends Method> = Awaited<ReturnType<RemoteJournal[M]>>;

/** Beside this file, as source or as built. */
function workerFile(): URL {
  const isSource = import.meta.url.endsWith(".ts");
  return isSource ? new URL("./worker-main.ts", import.meta.url) : new URL("./worker-main.js", import.meta.url);
}
