import { Worker } from "node:worker_threads";
import type { Wanted } from "./database-thread.ts";

const PATIENCE_MS = 20_000;

const threads = new Map<string, Worker>();

/** Makes a database before it returns: a test starts processes without waiting for anything. `server`: the address with `DATABASE` in it. */
export function makeDatabaseNow(server: string, name: string): string {
  const thread = threads.get(server) ?? startThread(server);
  const done = new Int32Array(new SharedArrayBuffer(4));
  thread.postMessage({ name, done } satisfies Wanted);
  Atomics.wait(done, 0, 0, PATIENCE_MS);
  if (done[0] !== 1) throw new Error(`The database ${name} could not be made.`);
  return server.replace("DATABASE", name);
}

function startThread(server: string): Worker {
  const thread = new Worker(new URL("./database-thread.ts", import.meta.url), {
    workerData: server.replace("DATABASE", "postgres"),
    execArgv: [],
  });
  thread.unref();
  threads.set(server, thread);
  return thread;
}
