import { expect, test } from "vitest";
import { type CrashPoint, crashingJournal, dieAt } from "../../../test/faults/crashing-journal.ts";
import { fail, type Play, succeed, untilAborted, World } from "../../../test/faults/world.ts";
import { compileSteps } from "../../../test/simulation/uhlp.ts";
import { MemoryJournal } from "../../../test/support/memory/memory-journal.ts";
import { liftControls } from "../../core/graph/lift-controls.ts";
import { isJsonObject, type Json } from "../../core/json.ts";
import { failExecutor } from "../../executors/fail-executor.ts";
import { readRunResult } from "../../operations/runs/read-run-result.ts";
import { loadDefinition } from "../load-definition.ts";

const really: Play = (task, signal) => failExecutor.run(task, signal);

/** Runs a file on the real host, in memory: its calls as `step argument`, and how it ended. */
async function run(yaml: string, payload: Json, plays: { readonly [stepId: string]: Play }, cancelAt?: string) {
  const world = new World({ plays });
  const graph = liftControls(await compileSteps(yaml));
  const { id } = await world.start(graph, { requestData: { source: "internal", payload }, context: {} });
  if (cancelAt !== undefined) {
    await expect.poll(() => world.calls.some(({ stepId }) => stepId === cancelAt)).toBe(true);
    await world.host.request(id, { type: "cancel" });
  }
  const { status, error } = await world.host.settled(id);
  expect(world.defects).toEqual([]);
  const calls = world.calls.map(({ stepId, input }) => {
    const given = isJsonObject(input) ? Object.values((input["arguments"] ?? {}) as object) : [];
    return [stepId, ...given.map((value) => JSON.stringify(value))].join(" ");
  });
  const { outcome } = await readRunResult(world, await world.recordOf(id));
  return { status, error, calls, outcome };
}

const SAGA = `steps:
  reserve: { type: mcp, target: t, compensate: release, transitions: { onSuccess: charge } }
  release: { type: mcp, target: t, inputMapping: { id: steps.reserve.output.id } }
  charge: { type: mcp, target: t, compensate: { type: mcp, target: t, inputMapping: { id: steps.charge.output.id, from: trigger.payload.who } }, transitions: { onSuccess: ship } }
  ship: { type: mcp, target: t, end: true }
`;
const id =
  (name: string): Play =>
  () =>
    succeed({ id: name });

test("what was done is taken back, the last one first, with what it gave", async () => {
  const plays = { reserve: id("r1"), charge: id("c1"), ship: () => fail("NO_ROOM") };
  const { calls, status, error } = await run(SAGA, { who: "Ada" }, plays);
  expect(calls).toEqual(["reserve", "charge", "ship", 'compensate "c1" "Ada"', 'release "r1"']);
  expect(status).toBe("failed");
  expect(error).toMatchObject({ code: "NO_ROOM" });
});

test("what has not succeeded is not taken back, and nothing is where the run succeeds", async () => {
  const failing = await run(SAGA, {}, { reserve: id("r1"), charge: () => fail("NO_MONEY") });
  expect(failing.calls).toEqual(["reserve", "charge", 'release "r1"']);
  expect((await run(SAGA, {}, {})).calls).toEqual(["reserve", "charge", "ship"]);
});

test("a cancelled run takes back what it has done", async () => {
  const ship: Play = async (_, signal) => {
    await untilAborted(signal);
    return fail("STOPPED");
  };
  const { calls, status } = await run(SAGA, {}, { reserve: id("r1"), charge: id("c1"), ship }, "ship");
  expect(calls).toEqual(["reserve", "charge", "ship", 'compensate "c1"', 'release "r1"']);
  expect(status).toBe("cancelled");
});

test("one that fails does not keep those before it from being taken back", async () => {
  const { calls } = await run(
    SAGA,
    {},
    {
      reserve: id("r1"),
      charge: id("c1"),
      compensate: () => fail("BROKEN"),
      ship: () => fail("NO_ROOM"),
    },
  );
  expect(calls).toEqual(["reserve", "charge", "ship", 'compensate "c1"', 'release "r1"']);
});

test("items of loops, branches and steps that were visited again are taken back, each time once, in blocks that have succeeded too", async () => {
  const yaml = `startAt: lines
variables: { n: 0 }
steps:
  lines: { type: control, subtype: loop, list: trigger.payload.lines, iteratorVar: line, body: { startAt: look, steps: { look: { type: mcp, target: t, transitions: { onSuccess: take } }, take: { type: mcp, target: t, inputMapping: { line: line.sku }, compensate: { type: mcp, target: t, inputMapping: { sku: line.sku, at: index, look: steps.look.output, id: steps.take.output } } } } }, transitions: { onSuccess: both } }
  both: { type: control, subtype: parallel, branches: [a, b], transitions: { onSuccess: again } }
  a: { type: mcp, target: t, compensate: undo_a }
  b: { type: mcp, target: t }
  undo_a: { type: mcp, target: t, inputMapping: { a: steps.a.output } }
  again: { type: mcp, target: t, compensate: { type: mcp, target: t, inputMapping: { again: steps.again.output } }, transitions: { onSuccess: count } }
  count: { type: control, subtype: set, variables: { n: vars.n + 1 }, transitions: [{ condition: vars.n < 2, nextStep: again }, { nextStep: last }] }
  last: { type: control, subtype: fail, code: NO }
`;
  let count = 0;
  const { calls, error } = await run(
    yaml,
    { lines: [{ sku: "x" }, { sku: "y" }] },
    {
      look: () => succeed("seen"),
      take: ({ input }) => succeed(`took ${JSON.stringify((input as { readonly arguments: Json }).arguments)}`),
      a: () => succeed("A"),
      again: () => succeed(`again ${++count}`),
      last: really,
    },
  );
  expect(error).toMatchObject({ code: "NO" });
  expect(calls.slice(calls.indexOf("last") + 1)).toEqual([
    'compensate "again 2"',
    'compensate "again 1"',
    'undo_a "A"',
    'compensate "y" 1 "seen" "took {\\"line\\":\\"y\\"}"',
    'compensate "x" 0 "seen" "took {\\"line\\":\\"x\\"}"',
  ]);
});

const WITH_HANDLER = (handler: string) => `startAt: a
onError: tell
steps:
  a: { type: mcp, target: t, compensate: { type: mcp, target: t }, transitions: { onSuccess: b } }
  b: { type: mcp, target: t, end: true }
  tell: { type: mcp, target: t, inputMapping: { code: error.code, why: error.details.why, a: steps.a.output }${handler} }
`;
const broken = { a: id("a1"), b: () => fail("BROKEN", { details: { why: "rust" } }) };

test("onError reads the failure and the steps; the run ends with this failure, and is taken back", async () => {
  const { calls, status, error } = await run(WITH_HANDLER(""), {}, broken);
  expect(calls).toEqual(["a", "b", 'tell "BROKEN" "rust" {"id":"a1"}', "compensate"]);
  expect(status).toBe("failed");
  expect(error).toMatchObject({ code: "BROKEN", message: "BROKEN happened." });
  expect((await run(WITH_HANDLER(""), {}, {})).calls).toEqual(["a", "b"]);
});

test("a response of onError answers the run, which is taken back all the same", async () => {
  const answer =
    ", transitions: { onSuccess: answer } }\n  answer: { type: control, subtype: formatResponse, resultType: error, data: { code: error.code }";
  const { calls, outcome } = await run(WITH_HANDLER(answer), {}, broken);
  expect(calls.at(-1)).toBe("compensate");
  expect(outcome).toMatchObject({ is: "completed", output: { resultType: "error", data: { code: "BROKEN" } } });
});

test("onError that fails itself gives the run its failure, and catches what is no step's", async () => {
  const { error } = await run(WITH_HANDLER(""), {}, { ...broken, tell: () => fail("DEAF") });
  expect(error).toMatchObject({ code: "DEAF" });
  const endless = `startAt: a\nmaxSteps: 3\nonError: { type: mcp, target: t, inputMapping: { code: error.code } }\nsteps:\n  a: { type: mcp, target: t, transitions: { onSuccess: a } }\n`;
  expect((await run(endless, {}, {})).calls).toEqual(["a", "a", "a", 'onError "MAX_VISITS"']);
});

test.each([
  [
    "loop, maxConcurrency: 2, list: trigger.payload, body: { type: mcp, target: t, compensate: { type: mcp, target: u } }, end: true",
    "side by side",
  ],
  [
    "try, body: { type: mcp, target: t, compensate: { type: mcp, target: u, compensate: { type: mcp, target: v } } }, end: true",
    "not taken back",
  ],
])("refused with its place: %s", async (step, says) => {
  const text = `workflowId: w\nstartAt: a\nsteps: { a: { type: control, subtype: ${step} } }\n`;
  const { problems } = await loadDefinition({ text });
  expect(problems).toMatchObject([{ code: "NOT_SUPPORTED", message: expect.stringContaining(says) }]);
});

test("wherever the process dies, each is taken back once, and what the first one decided stands", async () => {
  const yaml = `steps:
  either: { type: control, subtype: parallel, branches: [a, b], until: firstSuccess, transitions: { onSuccess: reserve } }
  a: { type: mcp, target: t }
  b: { type: mcp, target: t }
${SAGA.replace("steps:\n", "")}`;
  const graph = liftControls(await compileSteps(yaml));
  const plays = { a: id("a1"), b: () => fail("NO"), reserve: id("r1"), charge: id("c1"), ship: () => fail("NO_ROOM") };
  const live = async (crash: CrashPoint | undefined) => {
    const disk = new MemoryJournal();
    const died = Promise.withResolvers<void>();
    const stop = () => {
      died.resolve();
      return new Promise<void>(() => undefined);
    };
    const mortal = crashingJournal(disk, dieAt(crash, stop));
    const drive = async (world: World) => {
      await world.host.recover();
      if ((await disk.findRun("run-1")) === undefined) await world.start(graph, {}, { runId: "run-1" });
      await world.host.settled("run-1");
    };
    await Promise.race([drive(new World({ journal: mortal.journal, plays })), died.promise]);
    const world = new World({ journal: disk, plays });
    await drive(world);
    const events = await world.eventsOf("run-1");
    const done = events.flatMap((event) =>
      event.type === "stepSucceeded" ? (event.path.split("/").at(-1)?.replace(/#\d+$/, "") ?? "") : [],
    );
    return { status: (await world.recordOf("run-1")).status, done, commits: mortal.commits(), defects: world.defects };
  };
  const { commits } = await live(undefined);
  for (let commit = 1; commit <= commits; commit += 1) {
    for (const when of ["before", "after"] as const) {
      const { status, done, defects } = await live({ commit, when });
      const taken = done.filter((step) => step === "compensate" || step === "release");
      expect({ commit, when, status, taken, defects }).toEqual({
        ...{ commit, when, status: "failed", defects: [] },
        taken: ["compensate", "release"],
      });
      expect(done.filter((step) => step === "charge")).toEqual(["charge"]);
    }
  }
});
