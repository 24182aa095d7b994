import { writeExact } from "../../core/exact-json.ts";
import { resolveEnv } from "../../core/expressions/resolve-env.ts";
import type { Instance } from "../../core/history/run-state.ts";
import { explainHeld, type HeldStep } from "../../core/interpreter/attempt/crashes.ts";
import type { LiveRun } from "./live-run.ts";

/** The body about a held step in the outbox. */
export interface ToldHeld extends HeldStep {
  readonly event: "step.held";
  readonly url: string;
}

/** A dead letter that is there as long as the step is held. */
interface HeldLetter extends HeldStep {
  readonly isHeld: true;
}

/**
 * Queues what is told of a step that is held: webhooks as of a failure, and a dead letter, also where the workflow keeps none of
 * failures: only a person makes the step go on. Called right after the event that holds it, so that all is in one commit.
 */
export function tellHeld(run: LiveRun, instance: Instance, env: (name: string) => string | undefined): void {
  const held = explainHeld(instance);
  const { failureWebhook } = run.state.graph.graph.ending;
  const callback = run.options["callback_url"];
  for (const url of new Set([typeof callback === "string" ? callback : undefined, failureWebhook])) {
    if (url === undefined || resolveEnv(url, env).trim() === "") continue;
    const body: ToldHeld = { event: "step.held", url, ...held };
    run.addOutbox([{ kind: "webhook", body: writeExact(body) }]);
  }
  const letter: HeldLetter = { ...held, isHeld: true };
  run.addOutbox([{ kind: "dead_letter", body: writeExact(letter) }]);
}
