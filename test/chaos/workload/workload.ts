import { setTimeout } from "node:timers/promises";
import type { Random } from "../../simulation/random.ts";
import type { Client } from "./client.ts";
import { answer, cancel, repeat, runIdIn, signal } from "./deeds.ts";
import { SANDCASTLE_SHAPES } from "./sandcastle-shapes.ts";
import type { Addresses, Shape } from "./shape.ts";
import { MODEL_SHAPES, tick } from "./uhlp-shapes.ts";

export interface AcceptedRun {
  readonly label: string;
  /** The name of its shape's workflow. */
  readonly shape: string;
  readonly runId: string;
  readonly at: number;
  /** Steps that are taken over from another run, so that nothing is done for them. */
  readonly without: readonly string[];
}

export const SHAPES: readonly Shape[] = [...SANDCASTLE_SHAPES, ...MODEL_SHAPES];

export function definitionFiles(addresses: Addresses): Readonly<Record<string, string>> {
  return Object.assign({}, ...[...SHAPES, tick].map((shape) => shape.files(addresses)));
}

interface WorkloadOptions {
  readonly client: Client;
  readonly random: Random;
  readonly callbackUrl: string;
  readonly runsPerSecond: number;
}

/** Runs of all shapes, one after the other, with what people and programs do to them. */
export class Workload {
  readonly accepted: AcceptedRun[] = [];
  /** What was refused for want of budget. */
  refused = 0;
  /** What should not have been refused, and what else went wrong for those who ask. */
  readonly complaints: string[] = [];
  readonly #options: WorkloadOptions;
  readonly #underWay = new Set<Promise<void>>();

  constructor(options: WorkloadOptions) {
    this.#options = options;
  }

  /** Submits until `until`. */
  async submit(until: number): Promise<void> {
    const { random, runsPerSecond } = this.#options;
    for (let n = 0; Date.now() < until; n += 1) {
      // Each shape is there once before any comes again by chance.
      const shape = SHAPES[n < SHAPES.length ? n : random.int(0, SHAPES.length - 1)];
      if (shape !== undefined) this.#start(this.#play(shape, n));
      await setTimeout((2_000 * random.share()) / runsPerSecond);
    }
  }

  /** Resolves when all who have something to do with a run have done it, or complains that they have not. */
  async done(patienceMs: number): Promise<void> {
    const until = Date.now() + patienceMs;
    while (this.#underWay.size > 0 && Date.now() < until) await setTimeout(100);
    if (this.#underWay.size > 0) this.complaints.push(`${this.#underWay.size} who steer runs wait for an answer.`);
  }

  #start(work: Promise<void>): void {
    const watched = work
      .catch((error: unknown) => void this.complaints.push(error instanceof Error ? error.message : String(error)))
      .finally(() => this.#underWay.delete(watched));
    this.#underWay.add(watched);
  }

  async #play(shape: Shape, n: number): Promise<void> {
    const { client, random, callbackUrl } = this.#options;
    const label = `${shape.name}-${n}`;
    const body = { workflow: shape.name, input: shape.input(label), callback_url: callbackUrl };
    const key = `submit-${label}`;
    const asked = await client.post("/workflows/run", body, key);
    if (asked.code === "BUDGET_EXCEEDED") {
      this.refused += 1;
      return;
    }
    const runId = runIdIn(asked, `The run ${label}`);
    const run = { label, shape: shape.name, runId, at: Date.now(), without: [] };
    this.accepted.push(run);
    if (random.chance(0.2)) this.#start(this.#submitAgain(body, key, runId));
    if (shape.deed === "answer") await answer(client, run);
    if (shape.deed === "signal") await signal(client, run);
    if (shape.deed === "cancel") await cancel(client, run, random);
    if (shape.deed === "rerun" || shape.deed === "fork") this.accepted.push(await repeat(client, run, shape.deed));
  }

  async #submitAgain(body: unknown, key: string, runId: string): Promise<void> {
    const again = runIdIn(await this.#options.client.post("/workflows/run", body, key), `${key}, again,`);
    if (again !== runId) throw new Error(`${key} has started ${runId} and ${again}.`);
  }
}
