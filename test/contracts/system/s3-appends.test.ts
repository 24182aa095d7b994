import { hash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createCsvExecutor } from "../../../src/executors/exports/csv-executor.ts";
import type { FileStorage } from "../../../src/ports/file-storage.ts";
import type { S3Bucket } from "../../../src/storage/s3/s3-bucket.ts";
import { S3FileStorage } from "../../../src/storage/s3/s3-file-storage.ts";
import { agentTask } from "../../fakes/sandstorm/agent-task.ts";
import { type FaultyStore, startFaultyStore } from "../../support/s3-faults.ts";
import { openBucket, type S3Server, startS3Server } from "../../support/s3-server.ts";
import { addAtEnd } from "../add-at-end.ts";

let server: S3Server;
let store: FaultyStore;
let bucket: S3Bucket;
let opened = 0;

beforeAll(async () => {
  server = await startS3Server();
  store = await startFaultyStore(server.direct);
});
afterAll(async () => {
  await store.stop();
  await server.stop();
});
beforeEach(async () => {
  opened += 1;
  store.fault = undefined;
  bucket = await openBucket(store.endpoint, await server.makeBucket(`appends-${opened}`));
  store.seen.length = 0;
});

const open = () => new S3FileStorage(bucket);

async function textOf(files: FileStorage, path: string): Promise<string> {
  return Buffer.from((await files.read(path)) ?? "").toString();
}

async function keysOf(prefix: string): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const { key } of bucket.list(prefix)) keys.push(key);
  return keys;
}

test("an addition to a large file sends itself and not what is there", async () => {
  const files = open();
  const large = "x".repeat(6 * 1024 * 1024);
  await files.write("log", large);
  store.seen.length = 0;
  const lines = Array.from({ length: 10 }, (_, n) => `${n}\n`);
  for (const line of lines) await addAtEnd(files, "log", line);
  const sent = store.seen.reduce((sum, { bytes }) => sum + bytes, 0);

  expect(await textOf(files, "log")).toBe(large + lines.join(""));
  expect(sent).toBeLessThan(20_000);
  expect(Buffer.from(await files.readRange("log", { from: large.length - 1, to: large.length + 4 })).toString()).toBe(
    "x0\n1\n",
  );
});

test("an addition whose answer was lost is made once", async () => {
  await open().write("log", "begin\n");
  let left = 1;
  store.fault = ({ method }) => (method === "PUT" && left-- > 0 ? "answer lost" : undefined);
  await open().extend("log", { from: 6, content: Buffer.from("a\n"), length: 6 });
  expect(left).toBeLessThan(0);
  expect(await textOf(open(), "log")).toBe("begin\na\n");
});

test("several writers that add at once lose nothing, also where all of them begin the file", async () => {
  const writers = Array.from({ length: 4 }, open);
  const lines = writers.map((_, writer) => Array.from({ length: 18 }, (__, n) => `${writer}:${n}\n`));
  await Promise.all(
    writers.map(async (files, writer) => {
      for (const line of lines[writer] ?? []) await addAtEnd(files, "log", line);
    }),
  );
  const written = (await textOf(open(), "log")).split(/(?<=\n)/);

  expect(written.toSorted()).toEqual(lines.flat().toSorted());
  for (const [writer, own] of lines.entries())
    expect(written.filter((line) => line.startsWith(`${writer}:`))).toEqual(own);
});

test("of two who add at the same place only one is told that it has", async () => {
  await open().write("log", "begin\n");
  const outcomes = await Promise.allSettled(
    ["a", "b"].map((text) => open().extend("log", { from: 6, content: Buffer.from(`${text}\n`), length: 6 })),
  );
  const added = outcomes.filter(({ status }) => status === "fulfilled").length;
  expect(added).toBeLessThan(2);
  expect(await textOf(open(), "log")).toHaveLength(6 + 2 * added);
});

test("whoever writes a file anew takes what was added before with it, and nothing comes back", async () => {
  const [one, other] = [open(), open()];
  await addAtEnd(one, "log", "old\n");
  await other.write("log", "new\n");
  expect(await textOf(one, "log")).toBe("new\n");
  await one.remove("log");
  await addAtEnd(other, "log", "again\n");
  expect(await textOf(one, "log")).toBe("again\n");
});

/** As version 0.1.0 of November 2026 has written it: base and parts. */
async function writeParted(path: string, base: string, parts: Readonly<Record<string, string>>): Promise<void> {
  await bucket.put(`files/${path}`, base);
  const id = hash("sha256", (await bucket.head(`files/${path}`))?.etag ?? "").slice(0, 32);
  const folder = `parts/${hash("sha256", path).slice(0, 32)}`;
  for (const [name, content] of Object.entries(parts)) await bucket.put(`${folder}/${name.replace("ID", id)}`, content);
}

test("additions that an earlier version has kept as parts are put into their files once", async () => {
  const large = "x".repeat(6 * 1024 * 1024);
  const parts = {
    "ID/0000000000000006-a": "one\n",
    "ID/0000000000000010-b": "two\n",
    "ID/claim-dead": "",
    "other/0000000000000000-left": "left",
  };
  await writeParted("a/log", "begin\n", parts);
  await writeParted("empty", "", parts);
  await writeParted("large", large, parts);
  await bucket.put("parts/0123/0/0000000000000000-left", "left");

  expect(await open().list("a/")).toMatchObject([{ path: "a/log", bytes: 14 }]);
  expect(await keysOf("parts/")).toEqual([]);
  await addAtEnd(open(), "a/log", "three\n");
  expect(await textOf(open(), "a/log")).toBe("begin\none\ntwo\nthree\n");
  expect(await textOf(open(), "empty")).toBe("one\ntwo\n");
  expect(await textOf(open(), "large")).toBe(`${large}one\ntwo\n`);
});

test("rows that two processes add to one CSV file are all there once, also where columns are added", async () => {
  const executors = Array.from({ length: 2 }, () => createCsvExecutor({ mask: (text) => text }));
  await Promise.all(
    executors.map(async (executor, process) => {
      for (let n = 0; n < 12; n += 1) {
        const output = n === 6 ? { id: `${process}-${n}`, [`more_${process}`]: "y" } : { id: `${process}-${n}` };
        const input = { output, step: "rows", directory: "", mode: "append", is_fan_out: false };
        const task = { ...agentTask({}, { files: open(), idempotencyKey: `${process}-${n}` }), input };
        expect(await executor.run(task, new AbortController().signal)).toMatchObject({ status: "succeeded" });
      }
    }),
  );
  const [header, ...rows] = (await textOf(open(), "rows.csv")).trimEnd().split("\r\n");

  expect(header?.split(",").toSorted()).toEqual(["id", "more_0", "more_1"]);
  const ids = [0, 1].flatMap((process) => Array.from({ length: 12 }, (_, n) => `${process}-${n}`));
  expect(rows.map((row) => row.split(",")[0]).toSorted()).toEqual(ids.toSorted());
});
