import { describe, expect, test } from "vitest";
import { literal, path, task, text, toGraph } from "../../../../test/faults/graphs.ts";
import { fail, succeed, World } from "../../../../test/faults/world.ts";

const once = toGraph([task("a")]);

describe("values", () => {
  const large = "x".repeat(100_000);

  test("over 64 KiB lie in the blob store", async () => {
    const world = new World({ plays: { a: () => succeed(large) } });
    const { id } = await world.run(toGraph([task("a"), task("b", { after: ["a"], input: path("steps.a") })]));
    const [stored = ""] = await world.valuesOf(id, "stepSucceeded");

    expect(stored).toMatch(/^~[0-9a-f]{64}$/);
    expect(await world.outputOf(id, "b")).toBe(large);
  });

  test("over the limit fail the step with OUTPUT_TOO_LARGE, paid all the same", async () => {
    const world = new World({ plays: { a: () => succeed(large, 9) }, host: { maxOutputBytes: 70_000 } });
    expect(await world.run(once)).toMatchObject({
      status: "failed",
      error: { code: "OUTPUT_TOO_LARGE" },
      costMicro: 9,
    });
  });

  test.each([
    ["nothing at all", undefined],
    ["an outcome without output", { status: "succeeded", costMicro: 3 }],
    ["what JSON cannot say", { status: "succeeded", output: ring(), costMicro: 3 }],
  ])("that are %s are the executor's fault, and the run ends", async (_, outcome) => {
    const world = new World({ plays: { a: () => outcome as never } });
    expect(await world.run(once)).toMatchObject({ status: "failed", error: { code: "EXECUTOR_FAULT" } });
  });

  test("that are lost fail the step that reads them with BLOB_MISSING", async () => {
    const world = new World({ plays: { a: () => succeed(large) } });
    const graph = toGraph([
      task("a"),
      { kind: "approve", id: "ok", after: ["a"], message: literal("?") },
      task("b", { after: ["ok"], input: path("steps.a") }),
    ]);
    const { id } = await world.run(graph);
    for await (const { sha256 } of world.blobs.list()) await world.blobs.remove(sha256);
    const next = world.next();
    await next.host.request(id, { type: "answer", path: "ok", answer: { answer: "approve" } });

    expect(await next.host.settled(id)).toMatchObject({ status: "failed", error: { code: "BLOB_MISSING" } });
    expect(next.calls).toHaveLength(0);
  });

  test("that are lost fail a step whose condition reads them, instead of deciding without", async () => {
    const graph = toGraph({
      kind: "machine",
      start: "big",
      steps: [
        { ...task("big"), transitions: [{ on: "success", to: "ok" }] },
        {
          kind: "approve",
          id: "ok",
          message: literal("?"),
          assign: { copy: path("steps.big") },
          transitions: [{ on: "success", to: "end" }],
        },
        task("end"),
      ],
    });
    const world = new World({ plays: { big: () => succeed(large) } });
    const { id } = await world.run(graph);
    for await (const { sha256 } of world.blobs.list()) await world.blobs.remove(sha256);
    const next = world.next();
    await next.host.request(id, { type: "answer", path: "ok#1", answer: { answer: "approve" } });

    expect(await next.host.settled(id)).toMatchObject({ status: "failed", error: { code: "BLOB_MISSING" } });
  });

  test("of a task whose assignment reads a lost value fail it, paid all the same", async () => {
    const graph = toGraph({
      kind: "machine",
      start: "big",
      steps: [
        { ...task("big"), transitions: [{ on: "success", to: "ok" }] },
        { kind: "approve", id: "ok", message: literal("?"), transitions: [{ on: "success", to: "copy" }] },
        task("copy", { assign: { copy: path("steps.big") } }),
      ],
    });
    const world = new World({ plays: { big: () => succeed(large), copy: () => succeed(1, 5) } });
    const { id } = await world.run(graph);
    for await (const { sha256 } of world.blobs.list()) await world.blobs.remove(sha256);
    const next = world.next();
    await next.host.request(id, { type: "answer", path: "ok#1", answer: { answer: "approve" } });

    expect(await next.host.settled(id)).toMatchObject({
      status: "failed",
      error: { code: "BLOB_MISSING" },
      costMicro: 5,
    });
  });
});

describe("secrets", () => {
  test("are nowhere in the journal, the storage, the blobs or what is shown", async () => {
    const world = new World({
      recordsInput: true,
      plays: {
        a: async (call) => {
          call.emit({ type: "log", event: "log s3cret" });
          await call.record("turn", "s3cret");
          return succeed({ token: "s3cret", big: `s3cret${"x".repeat(100_000)}` });
        },
        b: () => fail("DENIED", { message: "no s3cret", details: { header: "s3cret" } }),
      },
      host: { mask: (unmasked) => unmasked.replaceAll("s3cret", "***"), env: () => "s3cret" },
    });
    const graph = toGraph(
      [
        task("a", { input: text("prompt ", path("env.KEY")), assign: { key: path("env.KEY") } }),
        task("b", {
          after: ["a"],
          when: { op: "compare", by: "!=", left: path("input.token"), right: literal("?") },
          onFailure: "continue",
        }),
        { kind: "set", id: "c", after: ["b"], value: path("env.KEY"), assign: { c: path("env.KEY") } },
        {
          kind: "approve",
          id: "d",
          after: ["c"],
          message: text("Use ", path("env.KEY"), "?"),
          show: path("env.KEY"),
          assign: { d: path("env.KEY") },
        },
        task("e", {
          after: ["d"],
          when: { op: "compare", by: "==", left: path("input.token"), right: path("vars.none") },
        }),
      ],
      { envAllowed: ["KEY"], ending: { storagePath: literal("out.json"), deadLetter: true } },
    );
    const runId = "r1";
    const notices = world.notices(runId);
    await world.run(graph, { token: "s3cret" }, { runId });
    await world.host.request(runId, { type: "answer", path: "d", answer: { answer: "approve" } });
    const { no } = await world.host.settled(runId);

    const events = await world.eventsOf(runId);
    const values = await world.journal.readValues(
      no,
      events.map((_, index) => index + 1),
    );
    const blobs: string[] = [];
    for await (const { sha256 } of world.blobs.list())
      blobs.push(new TextDecoder().decode(await world.blobs.get(sha256)));
    const stored = new TextDecoder().decode(await world.files.read("out.json"));
    const everything = JSON.stringify([
      events,
      [...values],
      blobs,
      stored,
      notices,
      await world.journal.readOutbox({ limit: 99 }),
      await world.recordOf(runId),
    ]);
    expect(everything).toContain("***");
    expect(everything).not.toContain("s3cret");
  });
});

/** A list that holds itself. */
function ring(): readonly unknown[] {
  const list: unknown[] = [];
  list.push(list);
  return list;
}
