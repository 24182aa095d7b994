import { isJsonObject } from "../../../core/json.ts";
import type { CliVerb } from "../../../operations/operation.ts";
import type { RunCaller } from "../caller.ts";
import { type CommonOptions, formatOf } from "../cli-context.ts";
import { callVerb, type Described, showOutput, type Written } from "../perform-verb.ts";
import { printEnvelope, tell } from "../print.ts";
import { shortId } from "../render/text/formats.ts";
import type { Voice } from "../voice.ts";
import { showRunToRest } from "./show-run-to-rest.ts";

/** Calls an operation that starts or changes a run, and shows that until it rests. Returns the exit code. */
export async function followVerb(
  caller: RunCaller,
  described: Described,
  { written, voice }: { readonly written: Written; readonly voice: Voice },
): Promise<number> {
  const { output: answered } = await callVerb(caller, described, written);
  return followAnswer(caller, { verb: described.verb, answered }, { options: written.options, voice });
}

/** Shows the run that an operation's answer names. */
export async function followAnswer(
  caller: RunCaller,
  { verb, answered }: { readonly verb: CliVerb<never>; readonly answered: unknown },
  { options, voice }: { readonly options: CommonOptions; readonly voice: Voice },
): Promise<number> {
  const { follows, wants } = verb;
  const runId = isJsonObject(answered) ? String(answered["run_id"]) : "";
  const format = formatOf(options);
  if (format === "text") await showOutput(verb as CliVerb, answered);
  if (follows === "always") return showRunToRest(caller, { runId, format }, { voice });
  const place = await caller.place();
  if (place === undefined)
    return showRunToRest(caller, { runId, format, answered, resumes: wants !== "cancelled" }, { voice, wants });
  if (format === "text") tell(`The run goes on ${place}. Follow it: pawl runs watch ${shortId(runId)}`);
  else printEnvelope(answered);
  return 0;
}
