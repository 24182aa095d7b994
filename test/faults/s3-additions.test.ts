import { afterAll, beforeAll, expect, test } from "vitest";
import { S3FileStorage } from "../../src/storage/s3/s3-file-storage.ts";
import { addAtEnd } from "../contracts/add-at-end.ts";
import { Random } from "../simulation/random.ts";
import { type Fault, type FaultyStore, startFaultyStore } from "../support/s3-faults.ts";
import { openBucket, type S3Server, startS3Server } from "../support/s3-server.ts";

const FAULTS: readonly [Fault, ...Fault[]] = [{ status: 500, code: "InternalError" }, "cut off", "answer lost"];

let server: S3Server;
let store: FaultyStore;

beforeAll(async () => {
  server = await startS3Server();
  store = await startFaultyStore(server.direct);
});
afterAll(async () => {
  await store.stop();
  await server.stop();
});

test.each([1, 2, 3])(
  "with faults of every kind at random (seed %d), no addition that was acknowledged is lost or doubled",
  async (seed) => {
    const bucket = await openBucket(store.endpoint, await server.makeBucket());
    const random = new Random(seed);
    store.fault = () => (random.chance(0.25) ? random.pick(FAULTS) : undefined);
    const [acknowledged, attempted] = [[] as string[], [] as string[]];
    const writers = Array.from({ length: 3 }, (_, writer) => ({ files: new S3FileStorage(bucket), writer }));
    await Promise.all(
      writers.map(async ({ files, writer }) => {
        for (let n = 0; n < 30; n += 1) {
          const line = `${writer}:${n}\n`;
          attempted.push(line);
          const failure = await addAtEnd(files, "log", line).catch((error: unknown) => error);
          if (failure === undefined) acknowledged.push(line);
          else expect(failure).toMatchObject({ code: "STORAGE_UNAVAILABLE" });
        }
      }),
    );
    store.fault = undefined;
    const written = Buffer.from((await new S3FileStorage(bucket).read("log")) ?? "")
      .toString()
      .split(/(?<=\n)/)
      .filter((line) => line !== "");
    const times = new Map<string, number>();
    for (const line of written) times.set(line, (times.get(line) ?? 0) + 1);

    expect(acknowledged.length).toBeGreaterThan(10);
    for (const line of acknowledged) expect(times.get(line), line).toBe(1);
    expect(written.every((line) => attempted.includes(line))).toBe(true);
  },
  120_000,
);
