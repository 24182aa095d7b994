import { RECORD_WRITES, type ThreadRecords } from "./messages.ts";
import type { StorageThread } from "./storage-thread.ts";

interface WrittenThere<Records extends object> {
  readonly name: keyof ThreadRecords;
  readonly records: Records;
  /** Asked at each write. Undefined: it is done here. */
  thread(): StorageThread | undefined;
  /** What is remembered here is old. */
  written?(): void;
}

/** The same records, whose writing calls are made on the thread. */
export function writeThere<Records extends object>(parts: WrittenThere<Records>): Records {
  const { name, records, thread, written } = parts;
  const writes: ReadonlySet<PropertyKey> = new Set(RECORD_WRITES[name]);
  return new Proxy(records, {
    get(target, method) {
      const call: unknown = Reflect.get(target, method, target);
      if (typeof call !== "function") return call;
      return (...parameters: unknown[]): unknown => {
        const there = writes.has(method) ? thread()?.write(name, String(method), parameters) : undefined;
        return there === undefined ? Reflect.apply(call, target, parameters) : there.finally(written);
      };
    },
  });
}
