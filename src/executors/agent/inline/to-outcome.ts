import type { Outcome } from "../../../ports/executor.ts";
import { toAgentOutput } from "./agent-output.ts";
import type { Conversed, ReadyAgent } from "./converse.ts";
import { finalText } from "./final-text.ts";

type Answered = Extract<Conversed, { readonly ok: true }>;

/** The step's output, in the form that its dialect reads. */
export function toOutcome({ answer, transcript, spending }: Answered, { request, task }: ReadyAgent): Outcome {
  const { costMicro } = spending;
  const usage = { ...spending.usage, num_turns: transcript.turns.length };
  task.emit({
    type: "log",
    event: {
      type: "result",
      subtype: "success",
      is_error: false,
      result: finalText(answer.turn.parts) ?? null,
      num_turns: transcript.turns.length,
      ...(costMicro === null ? {} : { total_cost_usd: costMicro / 1_000_000 }),
      usage,
    },
  });
  const { output: value } = answer;
  const structured = request.schema === undefined ? undefined : value;
  const output = request.answersAs === "step" ? value : toAgentOutput(answer.turn, { transcript, usage, structured });
  return { status: "succeeded", output, costMicro, usage, ...(answer.repaired ? { repaired: true } : {}) };
}
