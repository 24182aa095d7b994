import type { OpenApplication } from "../../../operations/application/application.ts";
import { runDoctor } from "../../../operations/service/run-doctor.ts";
import { type CommonOptions, formatOf } from "../cli-context.ts";
import { print, printEnvelope, tell } from "../print.ts";

/** `pawl doctor`: what runs need, and what is wrong with it. Notes go to stderr. */
export async function doctor(app: OpenApplication, options: CommonOptions): Promise<number> {
  const checks = await runDoctor(app);
  if (formatOf(options) !== "text") printEnvelope(checks);
  else
    for (const { name, state, detail, remedy } of checks) {
      const write = state === "note" ? tell : print;
      write(`${state.padEnd(5)} ${name}: ${detail}`);
      if (remedy !== undefined) write(`      ${remedy}`);
    }
  return checks.some(({ state }) => state === "error") ? 1 : 0;
}
