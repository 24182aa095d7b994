import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { PawlError } from "../core/errors/pawl-error.ts";
import type { SchemaAnswer, SchemaJob } from "./thread-main.ts";

const MAX_THREADS = 2;
const DEADLINE_MS = 1_000;
/** On a busy machine a thread has not had its time by then. It gets it, up to the last deadline. */
const MIN_CPU_MS = 800;
const LAST_DEADLINE_MS = 5_000;
const MAX_MEMORY_MB = 256;

/** Threads for work on schemas that may take long. Each does one job after the other, and is ended by one that takes too long. */
class SchemaThreads {
  readonly #idle: Worker[] = [];
  readonly #waiting: ((worker: Worker | undefined) => void)[] = [];
  #started = 0;

  /** Throws `SCHEMA_TOO_COSTLY`. */
  async perform(job: SchemaJob): Promise<SchemaAnswer> {
    let worker = await this.#take();
    try {
      worker ??= await startThread();
      return await ask(worker, job);
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
}

async function startThread(): Promise<Worker> {
  const file = import.meta.url.endsWith(".ts") ? "./thread-main.ts" : "./thread-main.js";
  const worker = new Worker(new URL(file, import.meta.url), {
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

async function ask(worker: Worker, job: SchemaJob): Promise<SchemaAnswer> {
  worker.ref();
  const deadline = new AbortController();
  const startedAt = Date.now();
  const before = await readCpuMs(worker);
  const timer = setInterval(async () => {
    // An answer that has come while this process was busy counts.
    await setImmediate();
    const usedMs = (await readCpuMs(worker)) - before;
    if (!(usedMs < MIN_CPU_MS) || Date.now() - startedAt >= LAST_DEADLINE_MS) deadline.abort();
  }, DEADLINE_MS);
  try {
    const answered = once(worker, "message", { signal: deadline.signal });
    worker.postMessage(job);
    const [answer] = (await answered) as [SchemaAnswer];
    worker.unref();
    return answer;
  } catch (cause) {
    await worker.terminate();
    const message = `A value could not be checked against its JSON Schema within ${DEADLINE_MS / 1_000} s.`;
    throw new PawlError("SCHEMA_TOO_COSTLY", { message, cause });
  } finally {
    clearInterval(timer);
  }
}

/** Not a number where this Node cannot say it. */
async function readCpuMs(worker: Worker): Promise<number> {
  const used = await worker.cpuUsage?.().catch(() => undefined);
  return used === undefined ? Number.NaN : (used.user + used.system) / 1_000;
}

/** A process has its threads once, as it has its event loop once. */
export const schemaThreads = new SchemaThreads();
