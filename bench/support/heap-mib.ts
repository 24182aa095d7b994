import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

export const MIB = 1024 * 1024;

/** What is in use when everything that nobody needs has been collected. */
export function heapMib(): number {
  setFlagsFromString("--expose_gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  return process.memoryUsage().heapUsed / MIB;
}
