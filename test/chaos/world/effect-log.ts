import { appendFileSync } from "node:fs";

/** A step has done something outside. */
export interface Effect {
  readonly at: number;
  /** When it was answered. Undefined: who asked had gone before. */
  until: number | undefined;
  readonly by: "http" | "agent" | "model";
  /** The run as its input names it. */
  readonly label: string;
  readonly step: string;
  readonly given: string;
  /** `RUN:PATH:GENERATION`, where who asks says so. */
  readonly key: string | undefined;
  /** It was answered with a failure, as the input of the run wants it. */
  failed: boolean;
}

/** Keeps what steps have done outside, in the order in which it happened, and in a file for who looks into a violation. */
export class EffectLog {
  readonly effects: Effect[] = [];
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  begin(effect: Pick<Effect, "by" | "label" | "step" | "given" | "key">): Effect {
    const begun: Effect = { ...effect, at: Date.now(), until: undefined, failed: false };
    this.effects.push(begun);
    appendFileSync(this.#file, `${JSON.stringify(begun)}\n`);
    return begun;
  }

  /** How often the step has been done so far. */
  countOf(label: string, step: string): number {
    return this.effects.filter((effect) => effect.label === label && effect.step === step).length;
  }
}
