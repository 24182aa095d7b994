import { withMethods } from "../../operations/application/with-methods.ts";
import { RECORD_WRITES, type ThreadRecords } from "./messages.ts";
import type { StorageThread } from "./storage-thread.ts";

interface WrittenThere<Records extends object> {
  readonly name: keyof ThreadRecords;
  readonly records: Records;
  /** Asked at each write. Undefined: it is done here. */
  thread(): StorageThread | undefined;
  /** What is remembered here is old. */
  written?(method: string): void;
}

type Call = (...parameters: unknown[]) => unknown;

/** The same records, whose writing calls are made on the thread. */
export function writeThere<Records extends object>(parts: WrittenThere<Records>): Records {
  const { name, records, thread, written } = parts;
  const writes = RECORD_WRITES[name].map((method: string): [string, Call] => {
    // Looked for when it is called: a test may have replaced it.
    const here: Call = (...parameters) => Reflect.apply(Reflect.get(records, method) as Call, records, parameters);
    const call: Call = (...parameters) =>
      thread()
        ?.write(name, method, parameters)
        ?.finally(() => written?.(method)) ?? here(...parameters);
    return [method, call];
  });
  return withMethods(records, Object.fromEntries(writes) as Partial<Records>);
}
