import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { PawlError } from "../core/errors/pawl-error.ts";

interface ThreadKind {
  /** The program of a thread: it says that it is ready, and answers each job with one message. */
  readonly program: URL;
  /** What a job may use of a processor, however busy the machine is. Where this Node cannot say it, the time that passes. */
  readonly maxMs: number;
  toError(cause: unknown): PawlError;
}

const MAX_THREADS = 2;
/** Of what a job may use: it is ended after as many times that, whatever it has used. */
const MAX_DELAY = 10;
const LOOKS = 5;
const MAX_MEMORY_MB = 256;

/** Threads for work that may take long. Each does one job after the other, and is ended by one that takes too long. */
export class DeadlineThreads<Job, Answer> {
  readonly #kind: ThreadKind;
  readonly #idle: Worker[] = [];
  readonly #waiting: ((worker: Worker | undefined) => void)[] = [];
  #started = 0;

  constructor(kind: ThreadKind) {
    this.#kind = kind;
  }

  /** Throws the error of its kind. */
  async perform(job: Job): Promise<Answer> {
    let worker = await this.#take();
    try {
      worker ??= await startThread(this.#kind.program);
      return await this.#ask(worker, job);
    } catch (error) {
      worker = undefined;
      throw error;
    } finally {
      this.#giveBack(worker);
    }
  }

  /** Undefined: one may be started. */
  async #take(): Promise<Worker | undefined> {
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    if (this.#started < MAX_THREADS) {
      this.#started += 1;
      return undefined;
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #giveBack(worker: Worker | undefined): void {
    const next = this.#waiting.shift();
    if (next !== undefined) next(worker);
    else if (worker === undefined) this.#started -= 1;
    else this.#idle.push(worker);
  }

  async #ask(worker: Worker, job: Job): Promise<Answer> {
    worker.ref();
    const { maxMs, toError } = this.#kind;
    const deadline = new AbortController();
    const startedAt = Date.now();
    const before = await readCpuMs(worker);
    const timer = setInterval(async () => {
      // An answer that has come while this process was busy counts.
      await setImmediate();
      const passedMs = Date.now() - startedAt;
      const usedMs = before === undefined ? passedMs : ((await readCpuMs(worker)) ?? 0) - before;
      if (usedMs >= maxMs || passedMs >= maxMs * MAX_DELAY) deadline.abort();
    }, maxMs / LOOKS);
    try {
      const answered = once(worker, "message", { signal: deadline.signal });
      worker.postMessage(job);
      const [answer] = (await answered) as [Answer];
      worker.unref();
      return answer;
    } catch (cause) {
      await worker.terminate();
      throw toError(cause);
    } finally {
      clearInterval(timer);
    }
  }
}

async function startThread(program: URL): Promise<Worker> {
  const worker = new Worker(program, {
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB },
  });
  // The job that is under way hears of its death, and ends it.
  worker.on("error", () => undefined);
  await once(worker, "message");
  // Where nothing is asked of it, it keeps no process alive.
  worker.unref();
  return worker;
}

/** Undefined: this Node cannot say it, or the thread has ended. */
async function readCpuMs(worker: Worker): Promise<number | undefined> {
  const used = await worker.cpuUsage?.().catch(() => undefined);
  return used === undefined ? undefined : (used.user + used.system) / 1_000;
}
