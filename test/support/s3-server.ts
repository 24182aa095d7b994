import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import { startFauxqs } from "fauxqs";
import { S3Bucket } from "../../src/storage/s3/s3-bucket.ts";
import { startFaultyStore } from "./s3-faults.ts";

export const S3_KEYS = { accessKeyId: "minioadmin", secretAccessKey: "minioadmin-secret", sessionToken: undefined };

export interface S3Server {
  readonly endpoint: string;
  /** Behind what sees to conditions. */
  readonly direct: string;
  /** Makes a bucket and answers with its name. */
  makeBucket(name?: string): Promise<string>;
  stop(): Promise<void>;
}

/** A real server of S3 in this process, on a port that the system chooses. Conditions of writes are seen to before it. */
export async function startS3Server(): Promise<S3Server> {
  const server = await startFauxqs({ port: 0, host: "127.0.0.1", logger: false });
  const direct = `http://127.0.0.1:${server.port}`;
  const conditions = await startFaultyStore(direct);
  const { endpoint } = conditions;
  const client = new S3Client({ endpoint, region: "us-east-1", forcePathStyle: true, credentials: S3_KEYS });
  let made = 0;
  return {
    endpoint,
    direct,
    async makeBucket(name) {
      made += 1;
      const Bucket = name ?? `bucket-${made}`;
      await client.send(new CreateBucketCommand({ Bucket }));
      return Bucket;
    },
    async stop() {
      client.destroy();
      await conditions.stop();
      await server.stop();
    },
  };
}

export function openBucket(endpoint: string, bucket: string, more: { prefix?: string; timeoutMs?: number } = {}) {
  const options = {
    bucket,
    endpoint,
    prefix: "",
    region: "us-east-1",
    credentials: S3_KEYS,
    timeoutMs: 5_000,
    ...more,
  };
  return S3Bucket.open(options);
}
