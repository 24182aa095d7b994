import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { isPawlError } from "../../src/core/errors/pawl-error.ts";
import { FileBlobs } from "../../src/storage/files/file-blobs.ts";
import { LocalFileStorage } from "../../src/storage/files/local-file-storage.ts";
import { openSqliteJournal } from "../../src/storage/sqlite/sqlite-journal.ts";
import { temporaryFolder } from "../contracts/temporary-folder.ts";
import { copyDataDirectory } from "./copy-data-directory.ts";
import { driveAll, openOwner } from "./data-directory.ts";
import { literal, path, task, toGraph } from "./graphs.ts";
import { type RunEnd, readEnd } from "./run-end.ts";
import { startChild } from "./start-child.ts";
import { succeed, World } from "./world.ts";

const RUN = "run-1";

/** How the run ends when somebody takes up a data directory, or the code of the error that says why not. */
async function goOn(dataDir: string): Promise<RunEnd | string> {
  try {
    const owner = openOwner(dataDir, { durability: "process" });
    try {
      // A storage that forgot commits makes no promise about what was executed, only about what is recorded.
      await driveAll(owner, [RUN]);
      return await readEnd(owner, dataDir, RUN, { effects: "forgotten" });
    } finally {
      await owner.close();
    }
  } catch (error) {
    if (!isPawlError(error)) throw error;
    return error.code;
  }
}

describe("after a kill", () => {
  let expected: RunEnd | string;
  let killed: (folder: string) => Promise<string>;

  beforeAll(() => {
    killed = async (folder) => {
      const undisturbed = join(folder, "undisturbed");
      mkdirSync(undisturbed);
      const { commits } = await startChild(undisturbed, { oneEvent: true }).ended;
      expected = await goOn(undisturbed);
      const dataDir = join(folder, "killed");
      mkdirSync(dataDir);
      // Late, so that there is much to lose.
      expect(await startChild(dataDir, { oneEvent: true, crashAt: `${commits - 6}:after` }).ended).toMatchObject({
        wasKilled: true,
      });
      return dataDir;
    };
  });

  test("a log that is cut off anywhere leads to the same end", async () => {
    const folder = temporaryFolder();
    const dataDir = await killed(folder);
    const log = readFileSync(join(dataDir, "pawl.db-wal"));
    expect(log.length).toBeGreaterThan(100_000);

    for (let cut = 0; cut < 20; cut += 1) {
      const copy = copyDataDirectory(dataDir, join(folder, `cut-${cut}`));
      const position = Math.floor((log.length * cut) / 20) + cut * 37;
      writeFileSync(join(copy, "pawl.db-wal"), log.subarray(0, position));
      expect({ position, end: await goOn(copy) }).toEqual({ position, end: expected });
    }
  });

  test("a log with a flipped bit leads to the same end", async () => {
    const folder = temporaryFolder();
    const dataDir = await killed(folder);
    const log = readFileSync(join(dataDir, "pawl.db-wal"));
    for (let flip = 0; flip < 10; flip += 1) {
      const copy = copyDataDirectory(dataDir, join(folder, `flip-${flip}`));
      const position = Math.floor((log.length * flip) / 10) + 1_001;
      const damaged = Buffer.from(log);
      damaged.writeUInt8(damaged.readUInt8(position) ^ 0x10, position);
      writeFileSync(join(copy, "pawl.db-wal"), damaged);
      expect({ position, end: await goOn(copy) }).toEqual({ position, end: expected });
    }
  });

  test("a database that is cut off is refused, or leads to the same end with what its log has", async () => {
    const folder = temporaryFolder();
    const dataDir = await killed(folder);
    const size = statSync(join(dataDir, "pawl.db")).size;
    const ends: string[] = [];
    for (let cut = 0; cut < 10; cut += 1) {
      const copy = copyDataDirectory(dataDir, join(folder, `database-${cut}`));
      truncateSync(join(copy, "pawl.db"), Math.floor((size * cut) / 10));
      const end = await goOn(copy);
      if (typeof end !== "string") expect(end).toEqual(expected);
      ends.push(typeof end === "string" ? end : "the same end");
    }
    expect(new Set(ends)).toEqual(new Set(["JOURNAL_DAMAGED", "the same end"].filter((end) => ends.includes(end))));
    expect(ends[0]).toBe("JOURNAL_DAMAGED");
  });
});

describe("a stored value that is gone", () => {
  const LARGE = "large ".repeat(50_000);
  const graph = toGraph(
    [
      task("large"),
      { kind: "approve", id: "ok", after: ["large"], message: literal("Go on?") },
      task("measure", { after: ["ok"], input: path("steps.large"), onFailure: "continue" }),
      task("other", { after: ["ok"], input: literal("fine") }),
    ],
    { ending: { storagePath: literal("out.json") } },
  );

  async function openWorld(folder: string): Promise<World> {
    const journal = openSqliteJournal({ path: join(folder, "pawl.db"), durability: "process" });
    onTestFinished(() => journal.close());
    const world = new World({
      journal,
      blobs: new FileBlobs(join(folder, "blobs")),
      files: new LocalFileStorage(join(folder, "storage")),
      plays: { large: () => succeed(LARGE) },
    });
    await world.host.recover();
    return world;
  }

  function blobFile(folder: string): string {
    const [file] = readdirSync(join(folder, "blobs"), { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    if (file === undefined) throw new Error("There is no blob.");
    return join(file.parentPath, file.name);
  }

  test.each([
    ["missing", "BLOB_MISSING", (file: string) => rmSync(file)],
    ["cut off", "BLOB_DAMAGED", (file: string) => truncateSync(file, 1_000)],
    ["empty", "BLOB_DAMAGED", (file: string) => truncateSync(file, 0)],
    ["altered", "BLOB_DAMAGED", (file: string) => writeFileSync(file, readFileSync(file).fill(0x20, 500, 600))],
  ])("because it is %s fails the step that reads it with %s, and no other", async (_, code, damage) => {
    const folder = temporaryFolder();
    const first = await openWorld(folder);
    const { id } = await first.run(graph);
    damage(blobFile(folder));

    const world = await openWorld(folder);
    await world.host.request(id, { type: "answer", path: "ok", answer: { answer: "approve" } });
    expect(await world.host.settled(id)).toMatchObject({ status: "partial" });
    expect(await world.eventsOf(id)).toContainEqual(
      expect.objectContaining({ type: "stepFailed", path: "measure", code }),
    );
    expect(await world.outputOf(id, "other")).toBe("fine");
    expect(world.calls.map(({ stepId }) => stepId)).toEqual(["other"]);
    // The outputs hold the lost value: they are not stored without it, and wait until it is back.
    expect(await world.files.read("out.json")).toBeUndefined();
    expect(world.defects).toMatchObject([{ code }]);
    expect(await world.journal.readOutbox({ limit: 9 })).toHaveLength(1);

    const stored = (await world.valuesOf(id, "stepSucceeded")).find((value) => value.startsWith("~")) ?? "";
    await world.blobs.remove(stored.slice(1));
    await world.blobs.put(JSON.stringify(LARGE));
    const next = await openWorld(folder);
    expect(await next.files.read("out.json")).toBeDefined();
  });
});
