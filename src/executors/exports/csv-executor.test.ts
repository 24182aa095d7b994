import { expect, test } from "vitest";
import { agentTask } from "../../../test/fakes/sandstorm/agent-task.ts";
import { MemoryFileStorage } from "../../../test/support/memory/memory-file-storage.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { ByteRange, FileStorage } from "../../ports/file-storage.ts";
import { createCsvExecutor } from "./csv-executor.ts";

const NEVER = new AbortController().signal;
const LEADS: Json = [
  { name: "Acme", score: 7 },
  { name: "Bee, Inc.", note: null, tags: ["a", "b"] },
];

interface Wanted {
  readonly output: Json;
  readonly more?: JsonObject;
  readonly files?: FileStorage;
  readonly runId?: string;
  readonly path?: string;
}

async function write({ output, more = {}, files = new MemoryFileStorage(), runId = "r1", path = "leads.csv" }: Wanted) {
  const input = { output, step: "leads", directory: "./out/", mode: "new_file", is_fan_out: false, ...more };
  const task = { ...agentTask({}, { files, runId, path, idempotencyKey: `${runId}:${path}:0` }), input };
  const outcome = await createCsvExecutor({ mask: (text) => text.replaceAll("s3cret", "***") }).run(task, NEVER);
  return { outcome, files };
}

async function textOf(files: FileStorage, path: string): Promise<string> {
  return Buffer.from((await files.read(path)) ?? "").toString();
}

test("each run writes a file of its own, which is its artifact too", async () => {
  const { outcome, files } = await write({ output: LEADS });
  const text = 'name,score,note,tags\r\nAcme,7,,\r\n"Bee, Inc.",,,"[""a"",""b""]"\r\n';
  expect(outcome).toMatchObject({
    status: "succeeded",
    output: { path: "out/leads-r1.csv", rows: 2, columns: ["name", "score", "note", "tags"] },
    files: [{ name: "leads-r1.csv", content: Buffer.from(text) }],
  });
  expect(await textOf(files, "out/leads-r1.csv")).toBe(text);
  const called = await write({ output: LEADS, path: "call[2]/leads.csv" });
  expect(called.outcome).toMatchObject({ output: { path: "out/leads-r1-call-2.csv" } });
  const named = await write({ output: LEADS, more: { filename: "r1.csv", directory: "." } });
  expect(named.outcome).toMatchObject({ output: { path: "r1.csv" } });
});

test("an object is a row, a text too, a fan-out's items are rows or lists of them, nothing is no file", async () => {
  const rowsOf = async (output: Json, more: JsonObject = {}) => {
    const { outcome, files } = await write({ output, more });
    const path = outcome.status === "succeeded" ? (outcome.output as { readonly path: string | null }).path : null;
    return path === null ? outcome : textOf(files, path);
  };
  expect(await rowsOf({ a: 1 })).toBe("a\r\n1\r\n");
  expect(await rowsOf("hello")).toBe("value\r\nhello\r\n");
  expect(await rowsOf([1, null, "x"])).toBe("value\r\n1\r\nx\r\n");
  expect(await rowsOf([[{ a: 1 }, { a: 2 }], null, { a: 3 }], { is_fan_out: true })).toBe("a\r\n1\r\n2\r\n3\r\n");
  expect(await rowsOf({ items: [{ a: 1 }, { a: 2 }], more: 1 }, { rows: "items" })).toBe("a\r\n1\r\n2\r\n");
  expect(await rowsOf(null)).toMatchObject({ output: { path: null, rows: 0 } });
  expect(await rowsOf({ a: 1 }, { rows: "toString" })).toMatchObject({ output: { path: null } });
});

test("rows of many runs are added to one file, whose header stays and grows to the right", async () => {
  const files = new MemoryFileStorage();
  const more = { mode: "append", filename: "all.csv" };
  await write({ output: [{ a: 1, b: "=x" }], more, files, runId: "r1" });
  await write({ output: [{ b: 2, a: 3 }], more, files, runId: "r2" });
  const third = await write({ output: { c: "new", a: 5 }, more, files, runId: "r3" });
  expect(third.outcome).toMatchObject({ output: { columns: ["a", "b", "c"], new_columns: ["c"], rows: 1 } });
  expect(third.outcome).toMatchObject({ files: [{ name: "all.csv", content: Buffer.from("c,a\r\nnew,5\r\n") }] });
  expect(await textOf(files, "out/all.csv")).toBe("a,b,c\r\n1,'=x,\r\n3,2,\r\n5,,new\r\n");
});

test("additions at once all arrive", async () => {
  const files = new MemoryFileStorage();
  const executor = createCsvExecutor({ mask: (text) => text });
  const input = { output: { a: 1 }, step: "s", directory: "", mode: "append", is_fan_out: false };
  const tasks = Array.from({ length: 20 }, (_, n) => ({ ...agentTask({}, { files, idempotencyKey: `k${n}` }), input }));
  await Promise.all(tasks.map((task) => executor.run(task, NEVER)));
  expect((await textOf(files, "s.csv")).split("\r\n")).toHaveLength(22);
});

test("an addition neither reads nor writes again what is there, however much that is", async () => {
  const files = new MemoryFileStorage();
  const more = { mode: "append" };
  const line = `${"x".repeat(1_023)}\n`;
  await files.write("out/leads.csv", `name\n${line.repeat(70 * 1_024)}`);
  await write({ output: { name: "first" }, more, files, runId: "r1" });
  const counting = new CountingStorage(files);
  const { outcome } = await write({ output: { name: "second" }, more, files: counting, runId: "r2" });
  expect(outcome).toMatchObject({ status: "succeeded", output: { rows: 1, columns: ["name"] } });
  expect(counting.bytes).toBeLessThan(1_000_000);
  const end = Buffer.from((await files.read("out/leads.csv")) ?? "").subarray(-15);
  expect(end.toString()).toBe("first\r\nsecond\r\n".slice(-15));
  const wider = await write({ output: { name: "third", score: 1 }, more, files, runId: "r3" });
  expect(wider.outcome).toMatchObject({
    status: "failed",
    code: "CSV_BROKEN",
    message: expect.stringContaining("new columns"),
  });
});

test("what a person has changed by hand is kept: rows are added behind it", async () => {
  const files = new MemoryFileStorage();
  const more = { mode: "append" };
  await write({ output: [{ a: 1 }, { a: 2 }], more, files, runId: "r1" });
  for (const [runId, text, after] of [
    ["r2", "a\r\n1\r\n2 by hand\r\n", "a\r\n1\r\n2 by hand\r\n9\r\n"],
    ["r3", "a\r\n", "a\r\n9\r\n"],
    ["r4", "", "a\r\n9\r\n"],
    ["r5", "\ufeffa,b\nx,y", "\ufeffa,b\nx,y\r\n9,\r\n"],
  ] as const) {
    await files.write("out/leads.csv", text);
    await write({ output: { a: 9 }, more, files, runId });
    expect(await textOf(files, "out/leads.csv")).toBe(after);
  }
  await files.remove("out/leads.csv");
  await write({ output: { a: 10 }, more, files, runId: "r6" });
  expect(await textOf(files, "out/leads.csv")).toBe("a\r\n10\r\n");
});

test("additions that wait for another are made together, so that a burst of runs waits for a few writes", async () => {
  const files = new WaitingStorage();
  const executor = createCsvExecutor({ mask: (text) => text });
  const run = (n: number, signal: AbortSignal = NEVER) => {
    const output: Json = n === 500 ? { n, more: "=1" } : { n };
    const input = { output, step: "s", directory: "", mode: "append", is_fan_out: false };
    return executor.run({ ...agentTask({}, { files, idempotencyKey: `k${n}` }), input }, signal);
  };
  const numbers = Array.from({ length: 1_000 }, (_, n) => n);
  const ends = await Promise.all(numbers.map((n) => run(n)));
  expect(new Set(ends.map(({ status }) => status))).toEqual(new Set(["succeeded"]));
  const [header, ...rows] = (await textOf(files, "s.csv")).trimEnd().split("\r\n");
  expect([header, rows[499], rows[500]]).toEqual(["n,more", "499,", "500,'=1"]);
  expect(rows.map((row) => Number.parseInt(row, 10))).toEqual(numbers);
  expect(files.writes).toBeLessThan(30);
  // Each of them that comes again has been added.
  await Promise.all(numbers.map((n) => run(n)));
  expect((await textOf(files, "s.csv")).split("\r\n")).toHaveLength(1_002);
});

test("whoever is stopped while it waits adds nothing, and keeps nobody waiting", async () => {
  const isReleased = Promise.withResolvers<void>();
  const files = new WaitingStorage(isReleased.promise);
  const executor = createCsvExecutor({ mask: (text) => text });
  const run = (n: number, signal: AbortSignal) => {
    const input = { output: { n }, step: "s", directory: "", mode: "append", is_fan_out: false };
    return executor.run({ ...agentTask({}, { files, idempotencyKey: `k${n}` }), input }, signal);
  };
  const first = run(1, NEVER);
  await expect.poll(() => files.writes).toBeGreaterThan(0);
  const stop = new AbortController();
  const others = [run(2, stop.signal), run(3, NEVER)];
  stop.abort();
  isReleased.resolve();
  expect(await Promise.all([first, ...others])).toMatchObject([
    { status: "succeeded" },
    { status: "failed", code: "INTERRUPTED", effect: "none" },
    { status: "succeeded" },
  ]);
  expect(await textOf(files, "s.csv")).toBe("n\r\n1\r\n3\r\n");
});

test("wherever the process dies, a row is added once", async () => {
  const more = { mode: "append" };
  for (const dieAt of [0, 1, 2, 3, 4]) {
    const files = new MemoryFileStorage();
    await write({ output: { a: "before" }, more, files, runId: "r0" });
    const dying = new DyingStorage(files, dieAt);
    await write({ output: { a: "once" }, more, files: dying, runId: "r1" }).catch(() => undefined);
    // Another run may be the first after the crash.
    await write({ output: { a: "other" }, more, files, runId: "r2" });
    for (let again = 0; again < 2; again += 1) await write({ output: { a: "once" }, more, files, runId: "r1" });
    const lines = (await textOf(files, "out/leads.csv")).trimEnd().split("\r\n");
    expect(lines.toSorted(), `died at ${dieAt}`).toEqual(["a", "before", "once", "other"]);
  }
});

test("what cannot be added to is left as it is, and said", async () => {
  for (const text of ['a,"b', "a;b\n1;2\n"]) {
    const files = new MemoryFileStorage();
    await files.write("out/leads.csv", text);
    const { outcome } = await write({ output: LEADS, more: { mode: "append" }, files });
    expect(outcome).toMatchObject({ status: "failed", code: "CSV_BROKEN", message: expect.stringContaining("out/") });
    expect(await textOf(files, "out/leads.csv")).toBe(text);
  }
  const files = new MemoryFileStorage();
  await files.write("out/leads.csv", "\ufeffname\nOld");
  await write({ output: { name: "New" }, more: { mode: "append" }, files });
  expect(await textOf(files, "out/leads.csv")).toBe("\ufeffname\nOld\r\nNew\r\n");
});

test("a path that leaves the storage is refused, and a secret stands in none", async () => {
  for (const directory of ["../x", "/etc", "a/../../b", "a\\b"]) {
    expect((await write({ output: LEADS, more: { directory } })).outcome).toMatchObject({
      status: "failed",
      code: "STORAGE_PATH_INVALID",
    });
  }
  const { outcome } = await write({ output: LEADS, more: { filename: "of-s3cret" } });
  expect(outcome).toMatchObject({ output: { path: "out/of-***-r1.csv" } });
});

/** A storage that counts what goes through it. */
class CountingStorage implements FileStorage {
  readonly #files: FileStorage;
  bytes = 0;

  constructor(files: FileStorage) {
    this.#files = files;
  }

  async read(path: string): Promise<Uint8Array | undefined> {
    const content = await this.#files.read(path);
    this.bytes += content?.byteLength ?? 0;
    return content;
  }

  async readRange(path: string, range: ByteRange): Promise<Uint8Array> {
    const content = await this.#files.readRange(path, range);
    this.bytes += content.byteLength;
    return content;
  }

  async write(path: string, content: string | Uint8Array): Promise<void> {
    this.bytes += content.length;
    await this.#files.write(path, content);
  }

  async extend(path: string, addition: { readonly from: number; readonly content: Uint8Array }): Promise<void> {
    this.bytes += addition.content.byteLength;
    await this.#files.extend(path, addition);
  }

  sizeOf = (path: string) => this.#files.sizeOf(path);
  list = (prefix: string) => this.#files.list(prefix);
  remove = (path: string) => this.#files.remove(path);
}

/** A storage whose process dies at its Nth write, after it or before it. */
class DyingStorage implements FileStorage {
  readonly #files: FileStorage;
  #left: number;

  constructor(files: FileStorage, dieAt: number) {
    this.#files = files;
    this.#left = dieAt;
  }

  async write(path: string, content: string | Uint8Array): Promise<void> {
    if (this.#left <= 0) throw new Error("The process died.");
    await this.#files.write(path, content);
    this.#left -= 1;
    if (this.#left <= 0) throw new Error("The process died.");
  }

  async extend(
    path: string,
    { from, content }: { readonly from: number; readonly content: Uint8Array },
  ): Promise<void> {
    if (this.#left <= 0) throw new Error("The process died.");
    this.#left -= 1;
    // In the middle of it.
    const part = this.#left <= 0 ? content.subarray(0, 3) : content;
    await this.#files.extend(path, { from, content: part });
    if (this.#left <= 0) throw new Error("The process died.");
  }

  sizeOf = (path: string) => this.#files.sizeOf(path);
  readRange = (path: string, range: ByteRange) => this.#files.readRange(path, range);
  read = (path: string) => this.#files.read(path);
  list = (prefix: string) => this.#files.list(prefix);
  remove = (path: string) => this.#files.remove(path);
}

/** Counts what is written, and waits with it where it is told to. */
class WaitingStorage extends MemoryFileStorage {
  readonly #isReleased: Promise<void>;
  writes = 0;

  constructor(isReleased: Promise<void> = Promise.resolve()) {
    super();
    this.#isReleased = isReleased;
  }

  override async write(path: string, content: string | Uint8Array): Promise<void> {
    this.writes += 1;
    await this.#isReleased;
    await super.write(path, content);
  }
}
