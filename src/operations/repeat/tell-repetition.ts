import type { Shown } from "../operation.ts";

interface Repeated {
  readonly run_id: string;
  /** Empty: the whole run. */
  readonly from_path: string;
  readonly changes: readonly string[];
}

/** Tells a person about the new run before it is shown. */
export function tellRepetition({ run_id: id, from_path: from, changes }: Repeated): Shown {
  return { told: [...changes, `The run ${id} does ${from === "" ? "all of" : `from ${from} of`} the old one again.`] };
}
