import { afterAll } from "vitest";
import { S3Blobs } from "../../../src/storage/s3/s3-blobs.ts";
import { S3FileStorage } from "../../../src/storage/s3/s3-file-storage.ts";
import { openBucket, startS3Server } from "../../support/s3-server.ts";
import { describeBlobsContract } from "../blobs.contract.ts";
import { describeFileStorageContract } from "../file-storage.contract.ts";

const server = await startS3Server();
afterAll(() => server.stop());
const bucket = await server.makeBucket();
let opened = 0;

/** Each in a folder of its own in one bucket. */
const shared = await Promise.all(
  Array.from({ length: 100 }, (_, n) => openBucket(server.endpoint, bucket, { prefix: `data-${n}/` })),
);
const next = () => {
  const one = shared[opened];
  opened += 1;
  if (one === undefined) throw new Error("More tests than folders.");
  return one;
};

describeBlobsContract("s3", { open: () => new S3Blobs(next(), async () => "owner") });
describeFileStorageContract("s3", { open: () => new S3FileStorage(next()) });
