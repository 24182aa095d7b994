import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";
import { application } from "../../end-to-end/support/application.ts";
import { startFakeModelServer } from "../../fakes/model-server/fake-model-server.ts";
import { answerWith, WebhookReceiver } from "../../fakes/webhook-receiver.ts";
import { noneIsLeft } from "../../sandbox/marked-processes.ts";
import { Random } from "../../simulation/random.ts";
import { Clients } from "./clients.ts";
import { addSchedule, expectSlots } from "./every-minute.ts";
import { expectBudget, expectEnds, expectRows, expectWebhooks } from "./kept-promises.ts";
import { KilledServer } from "./killed-server.ts";
import { loadFiles } from "./load-files.ts";

export interface KillPlan {
  readonly seed: number;
  readonly kills: number;
  readonly runs: number;
  /** Follow runs at once, through all kills. */
  readonly readers: number;
  /** Slots of a schedule that have passed before the first server starts. */
  readonly slots: number;
}

/** What a run has used when nothing is left of it is the question here, not whether it is enough. */
const PLENTY = 1_000_000;

/**
 * A server that takes runs, delivers webhooks, fires a schedule, asks people, adds rows to a file, counts what a budget
 * allows and is followed, killed at random moments and started again on the same data. What it has promised before a kill
 * it keeps after it.
 */
export async function killService({ seed, kills, runs, readers, slots }: KillPlan): Promise<void> {
  const random = new Random(seed);
  const receiver = await WebhookReceiver.listen();
  // Not every receiver is there all the time.
  for (let n = 0; n < runs / 4; n += 1) receiver.replies.push(random.chance(0.5) ? answerWith(500) : answerWith(204));
  const model = await startFakeModelServer({
    replies: ({ shown }) => ({ do: "say", text: /\d+/.exec(shown.messages.at(-1)?.text ?? "")?.[0] ?? "?" }),
    keepsRequests: false,
  });
  onTestFinished(() => model.close());
  const mark = `pawl-kill-service-${process.pid}-${seed}`;
  const cwd = application(loadFiles({ receiver: receiver.host, model: model.url }));
  const firstSlot = await addSchedule(join(cwd, ".pawl", "service.db"), slots);
  const server = new KilledServer({ cwd, env: { PAWL_TEST_MARK: mark, LOG_LEVEL: "warn" } });
  await server.start();
  await server.post("/budgets", { workflow: "short", per: "total", max_steps: PLENTY });

  const clients = new Clients(server, { random, callbackUrl: receiver.url("/done"), runs, readers });
  const working = clients.work();
  for (let kill = 0; kill < kills; kill += 1) {
    await setTimeout(random.int(30, 500));
    await server.kill();
    await server.start();
  }
  await working;

  const about = `seed ${seed}, ${server.kills} kills`;
  const { accepted } = clients;
  await expectEnds(server, { accepted, about });
  expectRows(join(cwd, ".pawl", "storage", "out", "rows.csv"), { accepted, about });
  await expectBudget(server, { accepted, about });
  await expectWebhooks(receiver, { runIds: accepted.map(({ runId }) => runId), about });
  await expectSlots(server, { firstSlot, slots, about });
  expect(await server.stop()).toBe(0);
  await noneIsLeft(mark);
}
