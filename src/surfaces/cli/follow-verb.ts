import { isJsonObject } from "../../core/json.ts";
import { parseInput } from "../../operations/fields.ts";
import { callServer } from "./caller.ts";
import type { CommandParts, CommonOptions } from "./cli-context.ts";
import { type Described, toInput, type Written } from "./perform-verb.ts";
import { followRemote } from "./remote/follow-remote.ts";
import type { RemoteParts } from "./remote/remote-parts.ts";

/** Starts a run in this process, and shows it until it ends or waits for others. Returns the exit code. */
type Drive = (parts: CommandParts, input: never, options: CommonOptions) => Promise<number>;

/** By the operation's id. */
const DRIVEN: Readonly<Record<string, () => Promise<Drive>>> = {
  retryDeadLetter: async () => (await import("./commands/retry-dead-letter.ts")).driveDeadLetterRetry,
};

/** Drives the run that the verb starts here. Throws what the operation throws. */
export async function followVerbHere(
  parts: CommandParts,
  { operation, verb }: Described,
  written: Written,
): Promise<number> {
  const drive = await DRIVEN[operation.id]?.();
  if (drive === undefined) throw new Error(`Nothing drives the run of ${operation.id} here.`);
  const input = parseInput(operation.input, await toInput(operation, verb, written));
  // What the operation's schema has let through has the type that its drive takes.
  return drive(parts, input as never, written.options);
}

/** Has a server start the run, and follows it. */
export async function followVerbThere(
  parts: RemoteParts,
  { operation, verb }: Described,
  written: Written,
): Promise<number> {
  const begun = await callServer(parts.client).call(operation, await toInput(operation, verb, written));
  const runId = isJsonObject(begun) ? String(begun["run_id"]) : "";
  return followRemote(parts, runId, written.options);
}
