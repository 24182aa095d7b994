import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect } from "vitest";
import { openServiceRecords } from "../../../src/app/open-service-records.ts";
import type { StoredSchedule } from "../../../src/ports/schedules.ts";
import { application } from "../../end-to-end/support/application.ts";
import { answerWith, WebhookReceiver } from "../../fakes/webhook-receiver.ts";
import { noneIsLeft } from "../../sandbox/marked-processes.ts";
import { Random } from "../../simulation/random.ts";
import { followThroughKills, KilledServer } from "./killed-server.ts";

export interface KillPlan {
  readonly seed: number;
  readonly kills: number;
  /** Of each of two workflows. */
  readonly runs: number;
  /** Slots of a schedule that have passed before the first server starts. */
  readonly slots: number;
}

const MINUTE_MS = 60_000;
const CLIENTS = 8;

const FILES = {
  "workflows/short.yaml": `
name: short
steps:
  - {id: answer, prompt: "{input.n}"}
  - {id: again, depends_on: [answer], prompt: "{steps.answer.output}"}
`,
  "workflows/gated.yaml": `
name: gated
steps:
  - {id: draft, prompt: "{input.n}"}
  - id: gate
    type: approval
    depends_on: [draft]
    approval_config: {message: "Go on?", allow_edit: true}
  - {id: send, depends_on: [gate], prompt: "{steps.gate.output}"}
`,
  "workflows/tick.yaml": 'name: tick\nsteps:\n  - {id: answer, prompt: "Tick."}\n',
  "answers.yaml": "delay_ms: 25\n",
};

/**
 * A server that takes runs, delivers webhooks, fires a schedule, asks people and is followed, killed at random moments and
 * started again on the same data. What it has promised before a kill it keeps after it.
 */
export async function killService({ seed, kills, runs, slots }: KillPlan): Promise<void> {
  const random = new Random(seed);
  const receiver = await WebhookReceiver.listen();
  // Not every receiver is there all the time.
  for (let n = 0; n < runs / 4; n += 1) receiver.replies.push(random.chance(0.5) ? answerWith(500) : answerWith(204));
  const mark = `pawl-kill-service-${process.pid}-${seed}`;
  const cwd = application({
    ...FILES,
    "pawl.yaml": `outbound: { allow: ["${receiver.host}"] }
agent: { provider: "simulated:answers.yaml" }
webhook: { retry_delay_ms: 50, max_attempts: 20 }
`,
  });
  const firstSlot = await addSchedule(join(cwd, ".pawl", "service.db"), slots);
  const server = new KilledServer({ cwd, env: { PAWL_TEST_MARK: mark, LOG_LEVEL: "warn" } });
  await server.start();

  const clients = new Clients(server, { random, callbackUrl: receiver.url("/done"), runs });
  const working = clients.work();
  for (let kill = 0; kill < kills; kill += 1) {
    await setTimeout(random.int(30, 500));
    await server.kill();
    await server.start();
  }
  await working;

  const about = `seed ${seed}, ${server.kills} kills`;
  const told = await clients.readEnds();
  // An attempt that three kills have cut off is given up: that is an end as well.
  const ends = new Set(told.map(({ status, code }) => (code === "POISON" ? "completed" : status)));
  expect({ about, ends }).toEqual({ about, ends: new Set(["completed"]) });
  expect({ about, runs: await clients.countRuns("short") }).toEqual({ about, runs });
  expect({ about, runs: await clients.countRuns("gated") }).toEqual({ about, runs });
  await expectWebhooks(receiver, clients.runIds, about);
  await expectSlots(server, { firstSlot, slots, about });
  expect(await server.stop()).toBe(0);
  await noneIsLeft(mark);
}

/** One that should have fired in each of the last minutes, and catches all of them up. */
async function addSchedule(path: string, slots: number): Promise<number> {
  const service = openServiceRecords({ path, durability: "power" });
  const now = Date.now();
  const firstSlot = now - (now % MINUTE_MS) - (slots - 1) * MINUTE_MS;
  const schedule: StoredSchedule = {
    id: "every-minute",
    workflow: "tick",
    cron: "* * * * *",
    timezone: "UTC",
    input: {},
    enabled: true,
    overlap: "queue",
    catchUp: "all",
    jitterSeconds: 0,
    source: "api",
    nextFireAt: firstSlot,
    dueAt: firstSlot,
    version: 1,
    createdAt: firstSlot,
    updatedAt: firstSlot,
  };
  expect(await service.schedules.add(schedule)).toBe(true);
  service.close();
  return firstSlot;
}

interface Accepted {
  readonly run_id: string;
}

interface EndedRun {
  readonly status: string;
  readonly code: string | undefined;
}

interface ClientsOptions {
  readonly random: Random;
  readonly callbackUrl: string;
  readonly runs: number;
}

/** Those who use the server meanwhile. Everything that it has answered them is held against it. */
class Clients {
  readonly #server: KilledServer;
  readonly #options: ClientsOptions;
  readonly runIds: string[] = [];

  constructor(server: KilledServer, options: ClientsOptions) {
    this.#server = server;
    this.#options = options;
  }

  async work(): Promise<void> {
    const { runs } = this.#options;
    let next = 0;
    const client = async () => {
      for (let n = next++; n < 2 * runs; n = next++) await this.#doOne(n);
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
  }

  async #doOne(n: number): Promise<void> {
    const { random } = this.#options;
    const workflow = n % 2 === 0 ? "short" : "gated";
    const isFollowed = random.chance(0.4);
    const isAskedAgain = random.chance(0.5);
    const runId = await this.#submit(workflow, n);
    this.runIds.push(runId);
    const following = isFollowed ? this.#follow(runId) : undefined;
    if (workflow === "gated") await this.#answer(runId, n);
    if (isAskedAgain) expect(await this.#submit(workflow, n), `the key ${n} again`).toBe(runId);
    await following;
    await this.#untilEnded(runId);
  }

  async #submit(workflow: string, n: number): Promise<string> {
    const body = { workflow, input: { n }, callback_url: this.#options.callbackUrl };
    for (;;) {
      const { response } = await this.#server.post("/workflows/run", body, { "idempotency-key": `key-${n}` });
      const { data, error } = (await response.json()) as { data: Accepted; error: { code: string } | null };
      if (response.status === 202) return data.run_id;
      // What a connection that broke has left behind is still being answered.
      expect(error?.code).toBe("IDEMPOTENCY_IN_FLIGHT");
      await setTimeout(20);
    }
  }

  /** Whoever is told yes finds exactly their answer in the record, whatever happens afterwards. */
  async #answer(runId: string, n: number): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const { response, attempts } = await this.#server.post(`/approvals/${runId}:gate/approve`, {
        edited_data: { n, attempt },
      });
      if (response.status === 200) {
        const { response: late } = await this.#server.post(`/approvals/${runId}:gate/reject`, {});
        expect(late.status, `${runId}: who comes later`).toBe(409);
        await this.#untilEnded(runId);
        const run = (await this.#server.get(`/runs/${runId}`)) as { steps: { path: string; output_data: unknown }[] };
        const gate = run.steps.find(({ path }) => path === "gate");
        expect(gate?.output_data, `${runId}: the answer that was taken`).toEqual({ n, attempt });
        return;
      }
      const { error } = (await response.json()) as { error: { code: string } };
      // Nobody else answers: an earlier request of ours was taken and its answer lost.
      if (error.code === "APPROVAL_CONFLICT") return void expect(attempts + attempt, runId).toBeGreaterThan(2);
      expect(error.code, runId).toBe("APPROVAL_NOT_OPEN");
      await setTimeout(30);
    }
  }

  async #follow(runId: string): Promise<void> {
    const seen = await followThroughKills(this.#server, runId);
    const recorded = await followThroughKills(this.#server, runId);
    expect(seen, `${runId}: without a gap and without a repetition`).toEqual(recorded);
  }

  async #untilEnded(runId: string): Promise<void> {
    for (;;) {
      const run = (await this.#server.get(`/runs/${runId}?outputs=false&prompts=false`)) as { completed_at: unknown };
      if (run.completed_at !== null) return;
      await setTimeout(30);
    }
  }

  async readEnds(): Promise<readonly EndedRun[]> {
    return Promise.all(
      this.runIds.map(async (runId) => {
        const run = (await this.#server.get(`/runs/${runId}?outputs=false&prompts=false`)) as {
          status: string;
          error: { code: string } | null;
        };
        return { status: run.status, code: run.error?.code };
      }),
    );
  }

  /** One for each key that was ever sent. */
  async countRuns(workflow: string): Promise<number> {
    const { response } = await this.#server.ask(`/api/runs?workflow=${workflow}&limit=1`);
    const { meta } = (await response.json()) as { meta: { total: number } };
    return meta.total;
  }
}

/** Each at least once, and always under the same id with the same bytes: the end of a run, and before it what a person was asked. */
async function expectWebhooks(receiver: WebhookReceiver, runIds: readonly string[], about: string): Promise<void> {
  const byMessage = () =>
    Map.groupBy(receiver.received, ({ body }) => {
      const { run_id: runId, event } = JSON.parse(body) as { run_id: string; event: string };
      return event === "approval.requested" ? `${runId} asked` : runId;
    });
  const missing = () => runIds.filter((id) => !byMessage().has(id));
  await expect.poll(() => [about, missing()], { timeout: 60_000 }).toEqual([about, []]);
  for (const [message, received] of byMessage()) {
    expect(new Set(received.map(({ headers }) => headers["webhook-id"])).size, `ids of ${message}`).toBe(1);
    expect(new Set(received.map(({ body }) => body)).size, `bodies of ${message}`).toBe(1);
  }
  const told = [...byMessage().keys()].map((message) => message.replace(/ asked$/, ""));
  expect(new Set(told)).toEqual(new Set(runIds));
}

interface Slot {
  readonly slot: string;
  readonly state: string;
  readonly run_id: string | null;
}

/** One after the other, each minute once, each with a run of its own that has ended. */
async function expectSlots(
  server: KilledServer,
  { firstSlot, slots, about }: { firstSlot: number; slots: number; about: string },
): Promise<void> {
  const list = async () => ((await server.get("/schedules/every-minute/slots?limit=200")) as { items: Slot[] }).items;
  const started = async () => (await list()).filter(({ state }) => state === "started");
  await expect.poll(async () => (await started()).length, { timeout: 60_000 }).toBeGreaterThanOrEqual(slots);
  const times = (await list()).map(({ slot }) => Date.parse(slot)).sort((a, b) => a - b);
  expect({ about, times }).toEqual({ about, times: times.map((_, n) => firstSlot + n * MINUTE_MS) });
  const ids = (await started()).map(({ run_id: id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const { response } = await server.ask("/api/runs?workflow=tick&limit=200");
  const { data, meta } = (await response.json()) as { data: { run_id: string }[]; meta: { total: number } };
  expect(meta.total).toBeGreaterThanOrEqual(slots);
  expect(new Set(data.map(({ run_id: id }) => id))).toEqual(new Set((await started()).map(({ run_id: id }) => id)));
}
