import type { Json, JsonObject } from "../../src/core/json.ts";
import { isJsonObject } from "../../src/core/json.ts";
import type { Answer, Behaviour, TaskCall, TaskResult } from "./behaviour.ts";
import { hashText, Random } from "./random.ts";

export interface Temper {
  readonly seed: number;
  /** Share of attempts that fail. */
  readonly failing: number;
  readonly isCostly?: boolean;
  /** Whoever is promised less than it needs has not enough. */
  readonly isGreedy?: boolean;
}

export const OUTSPENT = "OUTSPENT";

/** Drawn from the path and the failures before, never from the attempt: a crash changes nothing of what comes out. */
export function randomBehaviour({ seed, failing, isCostly = false, isGreedy = false }: Temper): Behaviour {
  const of = (what: string) => new Random(hashText(`${seed} ${what}`));
  return {
    task: (call) => {
      checkJoins(call.input);
      return taskResult(of(`${call.path} ${call.failures}`), call, { seed, failing, isCostly, isGreedy });
    },
    answer: (path, key) => answerOf(of(`answer ${path} ${key ?? ""}`)),
    signal: (path, name) => ({ payload: { sent: name, n: 3 }, delayMs: of(`signal ${path}`).int(0, 15) }),
    bindMs: (path) => of(`bind ${path}`).int(0, 2),
  };
}

function taskResult(random: Random, call: TaskCall, { failing, isCostly, isGreedy }: Required<Temper>): TaskResult {
  const delayMs = random.int(0, 12);
  const onAbort = random.pick(["fail", "finish", "hang"]);
  const fails = random.chance(failing);
  const wanted = random.int(1, 2_000);
  const costMicro = Math.min(wanted, call.leftMicro ?? wanted);
  // What `finally` costs is not held against the budget.
  const isFree = !isCostly || call.path.includes("~finally");
  const cost = isFree
    ? {}
    : { costMicro, ...(random.chance(0.3) ? { earlyCostMicro: Math.floor(costMicro / 2) } : {}) };
  if (isGreedy && !isFree && wanted > costMicro) {
    return {
      delayMs,
      onAbort,
      ...cost,
      fail: OUTSPENT,
      retryable: true,
      effect: random.pick(["none", "done"]),
      outspent: true,
    };
  }
  // The same questions in every generation, one after another; what comes out tells what they were answered with.
  const questions = random.pick([0, 0, 0, 0, 0, 1, 2]);
  if (call.answers.length < questions) {
    return { delayMs, onAbort, ...cost, asks: `q${call.answers.length + 1}`, allowEdit: true };
  }
  if (fails) {
    const effect = random.pick(["none", "unknown", "done"]);
    return {
      delayMs,
      onAbort,
      ...cost,
      fail: random.pick(["AGENT_FAILED", "OUTPUT_INVALID"]),
      retryable: random.chance(0.8),
      effect,
      ...(random.chance(0.3) && { answered: true as const }),
    };
  }
  return { delayMs, onAbort, ...cost, output: outputOf(random, call) };
}

function outputOf(random: Random, { path, input, answers }: TaskCall): Json {
  if (random.chance(0.05)) return null;
  const list = Array.from({ length: random.int(0, 3) }, (_, n) => ({
    name: `${path} ${n}`,
    n,
    ok: random.chance(0.6),
  }));
  return { path, n: random.int(0, 9), list, of: hashText(JSON.stringify([input, answers])) };
}

function answerOf(random: Random): Answer {
  const delayMs = random.int(0, 20);
  const answer = random.pick(["approve", "approve", "reject", "skip"]);
  return {
    answer,
    delayMs,
    ...(answer === "approve" && random.chance(0.3) ? { edited: { edited: true, n: 4, list: [] } } : {}),
  };
}

/** Whatever reads a whole fan-out sees each item once, in order; those that failed or were skipped as null. */
function checkJoins(input: Json): void {
  const needs: JsonObject = isJsonObject(input) && isJsonObject(input["needs"]) ? input["needs"] : {};
  for (const seen of Object.values(needs)) {
    if (!Array.isArray(seen)) continue;
    for (const [index, item] of seen.entries()) {
      const path = isJsonObject(item) ? item["path"] : undefined;
      if (typeof path === "string" && !path.includes(`[${index}]`))
        throw new Error(`Invariant: ${path} stands at ${index}`);
    }
  }
}
