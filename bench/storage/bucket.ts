import { randomBytes } from "node:crypto";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { S3Blobs } from "../../src/storage/s3/s3-blobs.ts";
import { openBucket, S3_KEYS, startS3Server } from "../../test/support/s3-server.ts";
import { type Comparison, compare, timed } from "../support/compare.ts";

const VALUES = 500;
const BYTES = 100_000;
const AT_ONCE = 20;

/** 500 values of 100 KB into a bucket and out of it. The server is in this process and slows both sides alike. */
export async function benchBucket(rounds: number): Promise<Comparison[]> {
  const server = await startS3Server();
  const Bucket = await server.makeBucket();
  const client = new S3Client({
    endpoint: server.endpoint,
    region: "us-east-1",
    forcePathStyle: true,
    credentials: S3_KEYS,
  });
  const remove = (Key: string) => client.send(new DeleteObjectCommand({ Bucket, Key }));
  const bare = async () => {
    const keys = newValues().map((Body, n) => ({ Key: `bare/${n}`, Body }));
    const ms = await timed(async () => {
      await inTurns(keys, (each) => client.send(new PutObjectCommand({ Bucket, ...each })));
      await inTurns(keys, async ({ Key }) => {
        const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
        await buffer(Body as Readable);
      });
    });
    await inTurns(keys, ({ Key }) => remove(Key));
    return ms;
  };
  const ours = async () => {
    const blobs = new S3Blobs(await openBucket(server.endpoint, Bucket), async () => "bench");
    const values = newValues();
    const hashes: string[] = [];
    const ms = await timed(async () => {
      await inTurns(values, async (value) => hashes.push(await blobs.put(value)));
      await inTurns(hashes, (sha256) => blobs.get(sha256));
    });
    await inTurns(hashes, (sha256) => blobs.remove(sha256));
    return ms;
  };
  try {
    const name = `${VALUES} values of 100 KB written to a bucket and read, ${AT_ONCE} at once`;
    return [await compare({ name, floorName: "the same by the bare SDK", rounds, floor: bare, ours })];
  } finally {
    client.destroy();
    await server.stop();
  }
}

function newValues(): readonly Buffer[] {
  return Array.from({ length: VALUES }, () => randomBytes(BYTES));
}

async function inTurns<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const left = items.values();
  const workThrough = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, workThrough));
}
