import { describe, expect, test } from "vitest";
import { literal, path, task, text, toGraph } from "../../../test/faults/graphs.ts";
import { succeed, World } from "../../../test/faults/world.ts";
import { PawlError } from "../../core/errors/pawl-error.ts";

describe("what must happen after the end", () => {
  const stores = (storagePath: ReturnType<typeof literal>) =>
    toGraph([task("a", { input: literal(7) })], { ending: { storagePath } });

  test("the outputs are stored, and the run is settled when they are", async () => {
    const world = new World();
    const { id } = await world.run(stores(text("out/", path("run.id"), ".json")));
    const stored = await world.files.read(`out/${id}.json`);
    expect(JSON.parse(new TextDecoder().decode(stored))).toEqual({ a: 7 });
    expect(await world.journal.readOutbox({ limit: 9 })).toEqual([]);
  });

  test.each([literal("../out.json"), literal(null), path("steps.gone")])(
    "a path that cannot be is on the run's record; the run has ended as it did",
    async (at) => {
      const world = new World();
      expect(await world.run(stores(at))).toMatchObject({
        status: "completed",
        error: { code: "STORAGE_PATH_INVALID" },
      });
      expect(await world.run(stores(literal("fine.json")))).toMatchObject({ status: "completed" });
      expect(await world.files.read("fine.json")).toBeDefined();
    },
  );

  test("one that fails is reported and is not in the way of others; it is tried again with the next start", async () => {
    const world = new World({ plays: { a: () => succeed("x".repeat(100_000)) } });
    let isLost = true;
    const blobs = world.blobs;
    const host = world.next({
      blobs: {
        put: (content) => blobs.put(content),
        get: (sha256) => blobs.get(isLost ? "0".repeat(64) : sha256),
        list: () => blobs.list(),
        remove: (sha256) => blobs.remove(sha256),
      },
      host: { cacheBytes: 0 },
    });
    await host.run(stores(literal("first.json")));
    isLost = false;
    await host.run(stores(literal("second.json")));
    expect(host.defects).toMatchObject([{ code: "BLOB_MISSING" }]);
    expect([await host.files.read("first.json"), await host.files.read("second.json")]).toMatchObject([
      undefined,
      expect.anything(),
    ]);

    const next = host.next({ blobs });
    await next.host.recover();
    expect(await host.files.read("first.json")).toBeDefined();
  });

  test("a storage that fails is tried again after five seconds", async () => {
    const world = new World();
    let failures = 1;
    const { files } = world;
    const next = world.next({
      files: {
        read: (at) => files.read(at),
        sizeOf: (at) => files.sizeOf(at),
        readRange: (at, range) => files.readRange(at, range),
        extend: (at, addition) => files.extend(at, addition),
        list: (at) => files.list(at),
        remove: (at) => files.remove(at),
        write: async (at, content) => {
          failures -= 1;
          if (failures >= 0) throw new PawlError("JOURNAL_FULL", { message: "No room." });
          await files.write(at, content);
        },
      },
    });
    await next.run(stores(literal("out.json")));
    expect(await files.read("out.json")).toBeUndefined();
    await next.clock.advance(5_000);
    expect(await files.read("out.json")).toBeDefined();
  });
});
