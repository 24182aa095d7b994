import { isJsonObject } from "../core/json.ts";
import type { Executor } from "../ports/executor.ts";
import type { StandIns } from "../ports/stand-ins.ts";
import { findTurn, giveTurn, prepareTurn } from "./models/mock/simulate-turn.ts";
import { toInterrupted, toRefused } from "./output/failure.ts";

/** Answers are made up for these where nothing is scripted, as by a simulated agent. */
const MADE_UP = new Set(["agent", "inline", "llm"]);

/** Stands in for one kind of work in a test of a workflow. `open`: who does it in earnest, or simulates it. */
export function createStandIn(kind: string, open: () => Promise<Executor>, standIns: StandIns): Executor {
  const { script, kinds, real, called } = standIns;
  return {
    recordsInput: true,
    async run(task, signal) {
      const { path, stepId, attempt, input } = task;
      // Of a function of a program what it takes, without which one it is.
      const isFunction = kind === "function" && isJsonObject(input);
      called({ kind, path, stepId, attempt, input: isFunction ? (input["input"] ?? null) : input });
      const ofKind = kinds.get(kind);
      const asked = { path, stepId, attempt, prompt: "" };
      const isNamed = ofKind === undefined || findTurn(script, asked) !== undefined;
      const scripted = { delay_ms: 0, steps: isNamed ? script.steps : new Map([[stepId, ofKind]]) };
      const said = findTurn(scripted, asked);
      if (MADE_UP.has(kind) || (said === undefined && real.has(kind))) return (await open()).run(task, signal);
      if (said === undefined)
        return toRefused(
          "STEP_NOT_SCRIPTED",
          `The test does not say what "${stepId}" (${kind}) answers. Add it below \`steps\`, or \`${kind}\` to \`real\`.`,
        );
      try {
        const turn = await giveTurn(await prepareTurn(asked, { script: scripted }), {}, signal);
        if (!turn.ok) return turn.failed;
        return { status: "succeeded", output: said.reply ?? null, costMicro: turn.answer.spent.costMicro };
      } catch (error) {
        if (signal.aborted) return toInterrupted("none");
        throw error;
      }
    },
  };
}
