import type { Journal } from "../../../src/ports/journal.ts";
import { holdRuns } from "../../../src/storage/held-runs.ts";
import { MemoryJournal } from "./memory-journal.ts";

/** The reference as one process uses it that drives all of its runs. */
export function openMemoryJournal(): Journal {
  const memory = new MemoryJournal();
  const calls = Object.getOwnPropertyNames(MemoryJournal.prototype)
    .filter((name) => name !== "constructor")
    .map((name) => [name, (...parameters: unknown[]) => Reflect.apply(Reflect.get(memory, name), memory, parameters)]);
  return holdRuns(Object.fromEntries(calls) as Journal);
}
