import { expect, test } from "vitest";
import { literal, path, task, toGraph } from "../graphs.ts";
import { ask, type Play, succeed } from "../world.ts";
import { gate, gatePerItem, RaceWorld } from "./race-world.ts";

const ITEMS = { items: ["alpha", "beta", "gamma"] };
const item = { op: "path", root: "item", path: [] } as const;

/** Each item is drafted, judged by a person, and sent. */
const PER_ITEM = toGraph(
  [
    gatePerItem("each", [
      task("draft", { input: item }),
      gate("ok", { after: ["draft"], show: path("steps.draft") }),
      task("send", { after: ["ok"], input: path("steps.ok") }),
    ]),
    task("join", { after: ["each"], input: path("steps.each") }),
  ],
  { name: "per-item" },
);

test("an answer to one item of a fan-out is that item's alone, and the others stay asked as they were", async () => {
  const world = new RaceWorld([PER_ITEM]);
  const { runId, open } = await world.startAsking("per-item", { questions: 3, input: ITEMS });
  expect(open.map(({ shown }) => shown)).toEqual(ITEMS.items);
  const [alpha, beta, gamma] = open;
  await world.answer(beta?.approval_id ?? "", "approve", { edited_data: "for beta" });
  await expect.poll(() => world.done).toContain("each[1]/send");
  expect(await world.open(runId)).toEqual([alpha, gamma]);
  await expect.poll(async () => (await world.run(runId)).status).toBe("awaiting_approval");
  await world.answer(gamma?.approval_id ?? "", "approve", { edited_data: "for gamma" });
  await world.answer(alpha?.approval_id ?? "", "approve");
  await world.untilEnded(runId);
  expect(await world.http.world.outputOf(runId, "join")).toEqual(["alpha", "for beta", "for gamma"]);
});

test("an answer that names no item where several are asked is refused, and answers none", async () => {
  const world = new RaceWorld([PER_ITEM]);
  const { runId, open } = await world.startAsking("per-item", { questions: 3, input: ITEMS });
  const reply = await world.answer(runId, "approve");
  expect([reply.status, reply.code]).toEqual([400, "USAGE"]);
  expect(await world.open(runId)).toEqual(open);
  const none = await world.answer(`${runId}:each/ok`, "approve");
  expect([none.status, none.code]).toEqual([404, "APPROVAL_NOT_OPEN"]);
  expect(await world.open(runId)).toEqual(open);
});

test("items that are answered at the same moment go on at the same time, each with its own answer, and none is left behind", async () => {
  let inside = 0;
  const all = Promise.withResolvers<void>();
  const send: Play = async (call) => {
    inside += 1;
    if (inside === 3) all.resolve();
    await all.promise;
    return succeed(call.input);
  };
  const world = new RaceWorld([PER_ITEM], { plays: { send } });
  const { runId, open } = await world.startAsking("per-item", { questions: 3, input: ITEMS });
  const replies = await Promise.all(
    open.map(({ approval_id: id, shown }) => world.answer(id, "approve", { edited_data: `${String(shown)}!` })),
  );
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
  await world.untilEnded(runId);
  expect(await world.http.world.outputOf(runId, "join")).toEqual(["alpha!", "beta!", "gamma!"]);
  expect(world.done.filter((done) => done.endsWith("/send"))).toHaveLength(3);
});

test("an item that asks again when it has been answered keeps no other from going on", async () => {
  const twice: Play = async (call) => {
    for (const key of call.path === "work[0]" ? ["one", "two"] : ["one"]) {
      if ((await call.recorded(key)) === undefined) return ask(key);
    }
    return succeed(call.path);
  };
  const graph = toGraph([task("work", { each: { list: path("input.items"), maxConcurrent: 3 }, input: item })], {
    name: "asking",
  });
  const world = new RaceWorld([graph], { plays: { work: twice } });
  const { runId, open } = await world.startAsking("asking", { questions: 3, input: ITEMS });
  await Promise.all(open.map(({ approval_id: id }) => world.answer(id, "approve")));
  const [again] = await world.untilAsked(runId, 1);
  expect(again).toMatchObject({ path: "work[0]", message: "May two be?" });
  await expect
    .poll(async () => (await world.run(runId)).steps.map(({ status }) => status))
    .toEqual(["awaiting_approval", "completed", "completed"]);
  await world.answer(again?.approval_id ?? "", "approve");
  expect((await world.untilEnded(runId)).status).toBe("completed");
  // The first attempt of each, the one behind each answer, and nothing twice.
  expect(world.done.filter((done) => done === "work[0]")).toHaveLength(3);
  expect(world.done.filter((done) => done === "work[1]")).toHaveLength(2);
});

test("branches that are answered one after another, while others still work, stay done once they are done", async () => {
  const slow = Promise.withResolvers<void>();
  const branch = (name: string) => [
    task(`work-${name}`, { input: literal(name) }),
    gate(`ok-${name}`, { after: [`work-${name}`], show: path(`steps.work-${name}`) }),
    task(`after-${name}`, { after: [`ok-${name}`], input: path(`steps.ok-${name}`) }),
  ];
  const graph = toGraph(
    [
      ...["a", "b", "c"].flatMap(branch),
      task("join", {
        after: ["after-a", "after-b", "after-c"],
        input: { op: "list", items: ["a", "b", "c"].map((name) => path(`steps.after-${name}`)) },
      }),
    ],
    { name: "branches" },
  );
  const world = new RaceWorld([graph], {
    plays: { "work-c": (call) => slow.promise.then(() => succeed(call.input)) },
  });
  const { runId, open } = await world.startAsking("branches", { questions: 2 });
  const done = new Set<string>();
  const noneGoesBack = async () => {
    const { steps } = await world.run(runId);
    const completed = steps.filter(({ status }) => status === "completed").map((step) => step.path);
    for (const before of done) expect(completed).toContain(before);
    for (const step of completed) done.add(step);
  };
  for (const { approval_id: id } of open) {
    await world.answer(id, "approve");
    await noneGoesBack();
  }
  await expect.poll(() => world.done).toContain("after-b");
  await noneGoesBack();
  slow.resolve();
  const [last] = await world.untilAsked(runId, 1);
  await noneGoesBack();
  await world.answer(last?.approval_id ?? "", "approve");
  expect((await world.untilEnded(runId)).status).toBe("completed");
  await noneGoesBack();
  expect([...world.done].sort()).toEqual(["after-a", "after-b", "after-c", "join", "work-a", "work-b", "work-c"]);
});

test("every question that is open is listed, and they may be answered in any order", async () => {
  for (const order of [
    [0, 1, 2],
    [2, 1, 0],
    [1, 2, 0],
  ]) {
    const world = new RaceWorld([PER_ITEM]);
    const { runId, open } = await world.startAsking("per-item", { questions: 3, input: ITEMS });
    for (const n of order) {
      expect((await world.answer(open[n]?.approval_id ?? "", "approve", { edited_data: n })).status).toBe(200);
    }
    await world.untilEnded(runId);
    expect(await world.http.world.outputOf(runId, "join")).toEqual([0, 1, 2]);
  }
});

test("a question that has been answered is not asked again while a sibling asks its own", async () => {
  const asking =
    (...keys: readonly string[]): Play =>
    async (call) => {
      const answers: unknown[] = [];
      for (const key of keys) {
        const answer = await call.recorded(key);
        if (answer === undefined) return ask(key);
        answers.push(answer);
      }
      return succeed(answers.length);
    };
  const graph = toGraph([task("two"), task("three"), task("end", { after: ["two", "three"] })], { name: "pair" });
  const world = new RaceWorld([graph], { plays: { two: asking("a", "b"), three: asking("x", "y", "z") } });
  const runId = await world.start("pair");
  for (let answered = 0; answered < 5; answered += 1) {
    await expect.poll(async () => (await world.open(runId)).length).toBeGreaterThan(0);
    const [first] = await world.open(runId);
    expect((await world.answer(first?.approval_id ?? "", "approve")).status).toBe(200);
  }
  expect((await world.untilEnded(runId)).status).toBe("completed");
  const asked = (await world.http.world.eventsOf(runId)).filter(({ type }) => type === "approvalAsked");
  expect(asked.map((event) => ("key" in event ? event.key : "")).sort()).toEqual(["a", "b", "x", "y", "z"]);
  expect(world.done.filter((done) => done === "two")).toHaveLength(3);
  expect(world.done.filter((done) => done === "three")).toHaveLength(4);
});
