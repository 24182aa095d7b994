import { setTimeout } from "node:timers/promises";
import { expect } from "vitest";
import type { Random } from "../../simulation/random.ts";
import { followThroughKills, type KilledServer } from "./killed-server.ts";
import { agentOf, WORKFLOWS, type Workflow } from "./load-files.ts";
import { WorkList } from "./work-list.ts";

export interface ClientsOptions {
  readonly random: Random;
  readonly callbackUrl: string;
  /** Submitted, as fast as the server takes them. */
  readonly runs: number;
  /** Follow runs at once. */
  readonly readers: number;
}

export interface AcceptedRun {
  readonly n: number;
  readonly workflow: Workflow;
  readonly runId: string;
}

const SUBMITTERS = 32;
const PEOPLE = 16;

/** Those who use the server while it dies and comes back. Everything that it has answered them is held against it. */
export class Clients {
  readonly #server: KilledServer;
  readonly #options: ClientsOptions;
  readonly accepted: AcceptedRun[] = [];
  readonly #toFollow = new WorkList<AcceptedRun>();
  readonly #toAnswer = new WorkList<AcceptedRun>();
  events = 0;

  constructor(server: KilledServer, options: ClientsOptions) {
    this.#server = server;
    this.#options = options;
  }

  /** Resolves when all is submitted, answered, and followed to its end. */
  async work(): Promise<void> {
    const { readers } = this.#options;
    await Promise.all([
      this.#submitAll(),
      this.#toAnswer.each(PEOPLE, (run) => this.#answer(run)),
      this.#toFollow.each(readers, (run) => this.#follow(run)),
    ]);
  }

  async #submitAll(): Promise<void> {
    const numbers = new WorkList<number>();
    for (let n = 0; n < this.#options.runs; n += 1) numbers.push(n);
    numbers.close();
    await numbers.each(SUBMITTERS, async (n) => {
      const run = await this.#submit(n);
      this.accepted.push(run);
      this.#toFollow.push(run);
      if (run.workflow === "gated") this.#toAnswer.push(run);
      const isAskedAgain = this.#options.random.chance(0.3);
      if (isAskedAgain) expect(await this.#submit(n), `the key ${n} again`).toEqual(run);
    });
    this.#toFollow.close();
    this.#toAnswer.close();
  }

  async #submit(n: number): Promise<AcceptedRun> {
    const workflow = WORKFLOWS[n % WORKFLOWS.length] ?? "short";
    const body = { workflow, input: { n }, callback_url: this.#options.callbackUrl, ...agentOf(workflow) };
    for (;;) {
      const { response } = await this.#server.post("/workflows/run", body, { "idempotency-key": `key-${n}` });
      const { data, error } = (await response.json()) as Answer<{ run_id: string }>;
      if (response.status === 202) return { n, workflow, runId: data.run_id };
      // What a connection that broke has left behind is still being answered.
      expect(error?.code).toBe("IDEMPOTENCY_IN_FLIGHT");
      await setTimeout(20);
    }
  }

  /** Whoever is told yes finds exactly their answer in the record, whatever happens afterwards. */
  async #answer({ runId, n }: AcceptedRun): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const { response, attempts } = await this.#server.post(`/approvals/${runId}:gate/approve`, {
        edited_data: { n, attempt },
      });
      if (response.status === 200) {
        const { response: late } = await this.#server.post(`/approvals/${runId}:gate/reject`, {});
        expect(late.status, `${runId}: who comes later`).toBe(409);
        const run = (await this.#server.get(`/runs/${runId}`)) as { steps: { path: string; output_data: unknown }[] };
        const gate = run.steps.find(({ path }) => path === "gate");
        expect(gate?.output_data, `${runId}: the answer that was taken`).toEqual({ n, attempt });
        return;
      }
      const { error } = (await response.json()) as Answer<null>;
      // Nobody else answers: an earlier request of ours was taken and its answer lost.
      if (error?.code === "APPROVAL_CONFLICT") return void expect(attempts + attempt, runId).toBeGreaterThan(2);
      expect(error?.code, runId).toBe("APPROVAL_NOT_OPEN");
      await setTimeout(30);
    }
  }

  async #follow({ runId }: AcceptedRun): Promise<void> {
    const seen = await followThroughKills(this.#server, runId);
    const recorded = await followThroughKills(this.#server, runId);
    expect(seen, `${runId}: without a gap and without a repetition`).toEqual(recorded);
    this.events += seen.length;
  }
}

interface Answer<T> {
  readonly data: T;
  readonly error: { readonly code: string } | null;
}
