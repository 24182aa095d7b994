import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { isStorageFailure } from "../../../src/core/errors/is-storage-failure.ts";
import { S3Blobs } from "../../../src/storage/s3/s3-blobs.ts";
import type { S3Bucket } from "../../../src/storage/s3/s3-bucket.ts";
import { S3FileStorage } from "../../../src/storage/s3/s3-file-storage.ts";
import { type Fault, type FaultyStore, type SeenRequest, startFaultyStore } from "../../support/s3-faults.ts";
import { openBucket, S3_KEYS, type S3Server, startS3Server } from "../../support/s3-server.ts";

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
  bucket = await openBucket(store.endpoint, await server.makeBucket(`faults-${opened}`), { timeoutMs: 2_000 });
  store.seen.length = 0;
});

const openBlobs = () => new S3Blobs(bucket, async () => "owner");
const openFiles = () => new S3FileStorage(bucket);

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

const failing: readonly (readonly [string, Fault])[] = [
  ["answers 500", { status: 500, code: "InternalError" }],
  ["answers 503", { status: 503, code: "SlowDown" }],
  ["answers 507", { status: 507, code: "XMinioStorageFull" }],
  ["does not answer", "no answer"],
  ["cuts each connection off", "cut off"],
];

test.each(failing)("a store that %s is a storage failure, in time, and works again when it does", async (_, fault) => {
  const [blobs, files] = [openBlobs(), openFiles()];
  const sha256 = await openBlobs().put("before");
  await openFiles().write("before", "before");
  store.fault = () => fault;
  const started = performance.now();
  const failures = await Promise.all(
    [
      blobs.put("value"),
      blobs.get(sha256),
      files.read("before"),
      files.write("a/b", "x"),
      files.extend("before", { from: 6, content: Buffer.from("x") }),
      files.sizeOf("before"),
      files.list(""),
      files.remove("before"),
    ].map(failureOf),
  );
  expect(performance.now() - started).toBeLessThan(8_000);
  for (const failure of failures) {
    expect(failure).toMatchObject({
      code: "STORAGE_UNAVAILABLE",
      message: expect.stringContaining(`faults-${opened}`),
    });
    expect(isStorageFailure(failure)).toBe(true);
    expect(JSON.stringify([failure, String((failure as Error).stack)])).not.toMatch(/minioadmin|Signature/);
  }

  store.fault = undefined;
  await blobs.put("value");
  expect(Buffer.from(await blobs.get(sha256)).toString()).toBe("before");
});

test("one failure is tried again at once", async () => {
  let left = 2;
  store.fault = () => (left-- > 0 ? { status: 500, code: "InternalError" } : undefined);
  await openBlobs().put("value");
  expect(left).toBeLessThan(0);
});

test("a value that comes byte by byte is not waited for without end", async () => {
  const sha256 = await openBlobs().put("x".repeat(1_000));
  store.fault = ({ method }) => (method === "GET" ? "dribble" : undefined);
  await expect(openBlobs().get(sha256)).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE" });
});

test("a port where nobody listens is a storage failure", async () => {
  const gone = await startFaultyStore(server.direct);
  await gone.stop();
  const nobody = new S3Blobs(await openBucket(gone.endpoint, "any", { timeoutMs: 1_000 }), async () => "owner");
  await expect(nobody.put("x")).rejects.toMatchObject({
    code: "STORAGE_UNAVAILABLE",
    message: expect.stringContaining("ECONNREFUSED"),
  });
});

const refusing: readonly (readonly [number, string, RegExp])[] = [
  [403, "AccessDenied", /AWS_ACCESS_KEY_ID/],
  [403, "InvalidAccessKeyId", /AWS_SECRET_ACCESS_KEY/],
  [403, "SignatureDoesNotMatch", /AWS_SECRET_ACCESS_KEY/],
  [400, "ExpiredToken", /AWS_SESSION_TOKEN/],
  [301, "PermanentRedirect", /AWS_REGION/],
  [404, "NoSuchBucket", /STORAGE_BUCKET/],
];

test.each(refusing)("%d %s is refused once, with the setting to correct", async (status, code, remedy) => {
  store.fault = () => ({ status, code });
  const failure = await failureOf(openBlobs().put("value"));
  expect(failure).toMatchObject({ code: "STORAGE_REFUSED", remedy: expect.stringMatching(remedy) });
  expect(isStorageFailure(failure)).toBe(false);
  expect(store.seen).toHaveLength(1);
  expect(JSON.stringify([failure, String((failure as Error).stack)])).not.toMatch(/minioadmin|Signature=/);
});

test("a bucket that is not there is refused by its name", async () => {
  const none = await openBucket(server.endpoint, "not-there");
  const failure = { code: "STORAGE_REFUSED", message: expect.stringContaining('"not-there"') };
  await expect(none.check()).rejects.toMatchObject(failure);
  await expect(new S3FileStorage(none).write("a", "x")).rejects.toMatchObject(failure);
  await expect(new S3FileStorage(none).read("a")).rejects.toMatchObject(failure);
});

/** The first requests that fit are answered as if nothing were there. */
function notFound(times: number, fits: (request: SeenRequest) => boolean): void {
  let left = times;
  store.fault = (request) => {
    if (left === 0 || !fits(request)) return undefined;
    left -= 1;
    return { status: 404, code: "NoSuchKey" };
  };
}

test("what was written just now and is not seen yet is looked for again", async () => {
  const [blobs, files] = [openBlobs(), openFiles()];
  const sha256 = await blobs.put("value");
  notFound(3, ({ method }) => method === "GET");
  expect(Buffer.from(await openBlobs().get(sha256)).toString()).toBe("value");

  await files.write("a", "value");
  notFound(3, ({ method, path }) => method === "GET" && path.includes("/files/a"));
  expect(Buffer.from((await files.read("a")) ?? "").toString()).toBe("value");

  // Another process cannot know that it must be there, and looks twice.
  notFound(1, ({ method }) => method === "HEAD");
  expect(await openFiles().sizeOf("a")).toBe(5);
});

test("a value that stays away is missing, in bounded time", async () => {
  const started = performance.now();
  await expect(openBlobs().get("0".repeat(64))).rejects.toMatchObject({ code: "BLOB_MISSING" });
  expect(performance.now() - started).toBeLessThan(4_000);
});

test("a value that somebody has changed is damaged", async () => {
  const sha256 = await openBlobs().put("value");
  await bucket.put(`blobs/${sha256}`, "VALUE");
  await expect(openBlobs().get(sha256)).rejects.toMatchObject({
    code: "BLOB_DAMAGED",
    message: expect.stringContaining(sha256),
  });
});

test("a value that this process has sent is not sent again, and one that was removed is", async () => {
  const blobs = openBlobs();
  const sha256 = await blobs.put("value");
  await Promise.all([blobs.put("value"), blobs.put("value")]);
  expect(store.seen.filter(({ path }) => path.includes(sha256))).toHaveLength(1);
  await blobs.remove(sha256);
  await blobs.put("value");
  expect(Buffer.from(await blobs.get(sha256)).toString()).toBe("value");
});

test("ages are told by the store's clock, whatever the clock of this process says", async () => {
  store.fault = () => "behind";
  const blobs = openBlobs();
  await blobs.put("value");
  const ages: number[] = [];
  for await (const { modifiedAt } of blobs.list()) ages.push(Date.now() - modifiedAt);
  expect(ages).toHaveLength(1);
  expect(Math.abs(ages[0] ?? Number.NaN)).toBeLessThan(60_000);
});

test("what waits in line for others is not too late for that", async () => {
  const blobs = new S3Blobs(
    await openBucket(store.endpoint, `faults-${opened}`, { timeoutMs: 3_000 }),
    async () => "o",
  );
  store.fault = () => "slow";
  const hashes = await Promise.all(Array.from({ length: 400 }, (_, n) => blobs.put(`value ${n}`)));
  expect(new Set(hashes).size).toBe(400);
});

test("a path that a key has no room for is refused", async () => {
  const long = `${"abcd/".repeat(202)}12345678`;
  await openFiles().write(long, "x");
  expect(await openFiles().sizeOf(long)).toBe(1);
  const files = new S3FileStorage(await openBucket(server.endpoint, `faults-${opened}`, { prefix: "production/" }));
  await expect(files.write(long, "x")).rejects.toMatchObject({ code: "STORAGE_PATH_INVALID" });
});

test("names of every kind are listed as they were written", async () => {
  const files = openFiles();
  const names = ["grün 😀.txt", "a+b & <c>.txt", "50%.txt", "a b/'c\".txt"].sort();
  for (const name of names) await files.write(name, name);
  expect((await files.list("")).map(({ path }) => path)).toEqual(names);
  for (const name of names) expect(Buffer.from((await files.read(name)) ?? "").toString()).toBe(name);
});

test("secrets are in no error, also where an operation is refused before it is sent", async () => {
  const failure = await failureOf((await openBucket("http://127.0.0.1:1", "Bad_Name!")).put("x", "y"));
  expect(JSON.stringify([failure, String((failure as Error).stack)])).not.toContain(S3_KEYS.secretAccessKey);
});
