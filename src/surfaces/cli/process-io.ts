import { AsyncLocalStorage } from "node:async_hooks";

/** What a command line uses of its process. */
export type ProcessIo = Pick<NodeJS.Process, "stdin" | "stdout" | "stderr" | "env" | "exit">;

const given = new AsyncLocalStorage<ProcessIo>();

/** Runs a command line with streams and an environment of its own, so that one process can run many at once. */
export function withIo<T>(own: ProcessIo, run: () => Promise<T>): Promise<T> {
  return given.run(own, run);
}

/** The streams and the environment of the command line that is running: where nobody gave any, those of the process. */
export function io(): ProcessIo {
  return given.getStore() ?? process;
}
