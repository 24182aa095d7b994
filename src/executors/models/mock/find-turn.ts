import type { AgentScript, ScriptedTurn } from "./agent-script.ts";

export interface Instance {
  readonly stepId: string;
  /** Another name for the step: of its agent. */
  readonly agent?: string | undefined;
  /** As in the run: `score`, `enrich[3]`, `batch[2]/fetch[7]`, `poll#7`. */
  readonly path: string;
  readonly attempt: number;
}

/** What the script says about one try. The narrowest name wins: whole path, instance, then step. */
export function findTurn(script: AgentScript, instance: Instance): ScriptedTurn | undefined {
  const ownPart = instance.path.split("/").at(-1) ?? instance.path;
  for (const name of [instance.path, ownPart, ownPart.replace(/#\d+/, ""), instance.stepId, instance.agent]) {
    if (name === undefined) continue;
    const step = script.steps.get(name);
    const turns = step === undefined ? [] : (step.items[itemIndex(ownPart)] ?? step.attempts);
    const turn = turns[instance.attempt - 1] ?? turns.at(-1);
    if (turn !== undefined) return turn;
  }
  return undefined;
}

/** -1 outside a fan-out. */
function itemIndex(pathPart: string): number {
  return Number(/\[(\d+)\]$/.exec(pathPart)?.[1] ?? -1);
}
