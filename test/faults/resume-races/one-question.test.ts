import { expect, test } from "vitest";
import { literal, path, task, toGraph } from "../graphs.ts";
import { fail, succeed } from "../world.ts";
import { gate, RaceWorld } from "./race-world.ts";

const GATED = toGraph([gate("ok"), task("send", { after: ["ok"], input: path("steps.ok") })], { name: "gated" });

test("of two yeses at the same moment one counts, and what comes behind it is done once, with its data", async () => {
  const world = new RaceWorld([GATED]);
  const { runId, open } = await world.startAsking("gated");
  const id = open[0]?.approval_id ?? "";
  const replies = await Promise.all([1, 2].map((n) => world.answer(id, "approve", { edited_data: { n } })));
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
  const winner = replies.findIndex(({ status }) => status === 200) + 1;
  const run = await world.untilEnded(runId);
  expect(run.status).toBe("completed");
  expect(run.steps).toMatchObject([{ output_data: { n: winner } }, { output_data: { n: winner }, attempt: 1 }]);
  expect(world.done).toEqual(["send"]);
});

test("of a yes and a no at the same moment one counts, and the run ends as it says", async () => {
  for (let round = 0; round < 10; round += 1) {
    const world = new RaceWorld([GATED]);
    const { runId, open } = await world.startAsking("gated");
    const id = open[0]?.approval_id ?? "";
    const verbs = round % 2 === 0 ? (["approve", "reject"] as const) : (["reject", "approve"] as const);
    const replies = await Promise.all(verbs.map((verb) => world.answer(id, verb)));
    const won = verbs[replies.findIndex(({ status }) => status === 200)];
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect((await world.untilEnded(runId)).status).toBe(won === "approve" ? "completed" : "failed");
    expect(world.done).toEqual(won === "approve" ? ["send"] : []);
  }
});

test("of a yes and a cancel at the same moment both are recorded, and the run ends once", async () => {
  for (let round = 0; round < 10; round += 1) {
    const world = new RaceWorld([GATED]);
    const { runId, open } = await world.startAsking("gated");
    const id = open[0]?.approval_id ?? "";
    const answering = () => world.answer(id, "approve");
    const cancelling = () => world.post(`/runs/${runId}/cancel`, {});
    const replies =
      round % 2 === 0
        ? await Promise.all([answering(), cancelling()])
        : (await Promise.all([cancelling(), answering()])).reverse();
    const [answered, cancelled] = replies;
    const run = await world.untilEnded(runId);
    const types = await world.http.world.typesOf(runId);
    expect(types.filter((type) => type === "runFinished")).toHaveLength(1);
    expect(types.includes("approvalAnswered")).toBe(answered?.status === 200);
    expect(types.includes("cancelRequested")).toBe(cancelled?.status === 202);
    expect(run.status).toBe(cancelled?.status === 202 ? "cancelled" : "completed");
  }
});

test("a yes in the moment in which the time is over counts or comes too late, never both", async () => {
  const timed = toGraph([gate("ok", { approvalTimeoutMs: 60_000, onApprovalTimeout: "skip" }), task("send")], {
    name: "timed",
  });
  for (let round = 0; round < 10; round += 1) {
    const world = new RaceWorld([timed]);
    const { runId, open } = await world.startAsking("timed");
    const id = open[0]?.approval_id ?? "";
    const moves = [() => world.http.world.clock.advance(60_000), () => world.answer(id, "approve")];
    if (round % 2 === 1) moves.reverse();
    const [first, second] = await Promise.all(moves.map((move) => move()));
    const answered = (round % 2 === 0 ? second : first) as { readonly status: number };
    const run = await world.untilEnded(runId);
    const step = run.steps.find((each) => each.path === "ok");
    expect(step?.status).toBe(answered.status === 200 ? "completed" : "skipped");
    expect([200, 404, 409]).toContain(answered.status);
  }
});

test.each(["cancelled", "timed out", "rejected"])(
  "an answer to a run that was %s says so and does nothing",
  async (how) => {
    const timed = toGraph([gate("ok", { approvalTimeoutMs: 60_000 }), task("send", { after: ["ok"] })], {
      name: "timed",
    });
    const world = new RaceWorld([timed]);
    const { runId, open } = await world.startAsking("timed");
    const id = open[0]?.approval_id ?? "";
    if (how === "cancelled") await world.post(`/runs/${runId}/cancel`, {});
    if (how === "timed out") await world.http.world.clock.advance(60_000);
    if (how === "rejected") await world.answer(id, "reject");
    const before = await world.untilEnded(runId);
    const late = await world.answer(id, "approve", { edited_data: 1 });
    expect([late.status, late.code]).toEqual([409, how === "rejected" ? "APPROVAL_CONFLICT" : "RUN_FINISHED"]);
    expect(await world.run(runId)).toEqual(before);
    expect(world.done).toEqual([]);
  },
);

test("an answer to the run that was rerun answers nothing of the new one, and the other way round", async () => {
  const world = new RaceWorld([GATED], { plays: { send: () => fail("BROKEN") } });
  const { runId, open } = await world.startAsking("gated");
  const id = open[0]?.approval_id ?? "";
  await world.answer(id, "approve", { edited_data: "first" });
  await world.untilEnded(runId);
  const { data } = await world.post(`/runs/${runId}/rerun`, { from_step: "ok" });
  const again = (data as { run_id: string }).run_id;
  const [asked] = await world.untilAsked(again, 1);
  expect(await world.answer(id, "approve", { edited_data: "stale" })).toMatchObject({ code: "APPROVAL_CONFLICT" });
  expect(await world.open(again)).toEqual([asked]);
  await world.answer(asked?.approval_id ?? "", "approve", { edited_data: "second" });
  const run = await world.untilEnded(again);
  expect(run.steps[0]?.output_data).toBe("second");
  expect((await world.run(runId)).steps[0]?.output_data).toBe("first");
});

test("fifty who resume a run at the same moment, while it waits and while it works, start nothing twice", async () => {
  const released = Promise.withResolvers<void>();
  const world = new RaceWorld([GATED], { plays: { send: () => released.promise.then(() => succeed("sent")) } });
  const { runId, open } = await world.startAsking("gated");
  const resumeAll = () => Promise.all(Array.from({ length: 50 }, () => world.post(`/runs/${runId}/resume`, {})));
  expect(new Set((await resumeAll()).map(({ status }) => status))).toEqual(new Set([202]));
  expect(await world.open(runId)).toEqual(open);
  const [, answered] = await Promise.all([resumeAll(), world.answer(open[0]?.approval_id ?? "", "approve")]);
  expect(answered.status).toBe(200);
  await expect.poll(() => world.done).toEqual(["send"]);
  await resumeAll();
  released.resolve();
  expect((await world.untilEnded(runId)).status).toBe("completed");
  expect(world.done).toEqual(["send"]);
});

test("a run that was parked with a question open is asked and answered once it is taken up, by however many", async () => {
  const world = new RaceWorld([GATED]);
  const { runId, open } = await world.startAsking("gated");
  await world.http.world.host.park(AbortSignal.abort());
  const next = world.http.world.next();
  const answers = Array.from({ length: 20 }, (_, n) =>
    next.host.request(runId, { type: "answer", path: "ok", answer: { answer: "approve", edited: n } }).then(
      () => n,
      (error: { code: string }) => error.code,
    ),
  );
  const [told] = await Promise.all([
    Promise.all(answers),
    next.host.recover(),
    next.host.request(runId, { type: "resume" }),
  ]);
  const winners = told.filter((one) => typeof one === "number");
  expect(winners).toHaveLength(1);
  expect(new Set(told.filter((one) => typeof one !== "number"))).toEqual(new Set(["APPROVAL_CONFLICT"]));
  await next.host.settled(runId);
  expect(open).toHaveLength(1);
  expect(await next.outputOf(runId, "send")).toBe(winners[0]);
  expect(next.calls.map((call) => call.path)).toEqual(["send"]);
});

test("an answer to an earlier visit of a step, or an earlier try of it, does not answer the next", async () => {
  const again = { op: "compare", by: "==", left: path("output"), right: literal("again") } as const;
  const loop = toGraph(
    {
      kind: "machine",
      start: "ok",
      steps: [gate("ok", { transitions: [{ on: "success", when: again, to: "ok" }] })],
    },
    { name: "loop" },
  );
  const world = new RaceWorld([loop]);
  const { runId, open } = await world.startAsking("loop");
  const first = open[0]?.approval_id ?? "";
  await world.answer(first, "approve", { edited_data: "again" });
  const [second] = await world.untilAsked(runId, 1);
  expect(second?.approval_id).not.toBe(first);
  expect(await world.answer(first, "approve", { edited_data: "stale" })).toMatchObject({ code: "APPROVAL_CONFLICT" });
  expect(await world.open(runId)).toEqual([second]);
  await world.answer(second?.approval_id ?? "", "approve", { edited_data: "done" });
  expect((await world.untilEnded(runId)).steps.map((step) => step.output_data)).toEqual(["again", "done"]);
});
