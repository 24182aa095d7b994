import { hash } from "node:crypto";
import { MIN_PART_BYTES, type S3Bucket } from "./s3-bucket.ts";

const PARTS = "parts/";
const ID = "pawl-id";

/**
 * Earlier versions kept each addition to a file as an object `parts/HASH-OF-PATH/ID/PLACE`, where ID is named by the file. Puts them
 * into their files, in the order of their names, and removes them. A file that was written gets another ID, so that what a crash leaves
 * behind is not added once more.
 */
export async function foldParts(bucket: S3Bucket): Promise<void> {
  const folders = new Set<string>();
  for await (const folder of bucket.listFolders(PARTS)) folders.add(folder);
  if (folders.size === 0) return;
  for await (const { key } of bucket.list("files/")) {
    const folder = `${PARTS}${hash("sha256", key.slice("files/".length)).slice(0, 32)}/`;
    if (folders.has(folder)) await foldFile(bucket, key, folder);
  }
  for (const folder of folders) for await (const { key } of bucket.list(folder)) await bucket.remove(key);
}

async function foldFile(bucket: S3Bucket, key: string, folder: string): Promise<void> {
  const base = await bucket.head(key);
  if (base === undefined) return;
  const own = `${folder}${base.metadata[ID] ?? hash("sha256", base.etag).slice(0, 32)}/`;
  const added: Buffer[] = [];
  for await (const part of bucket.list(own)) {
    if (part.key.startsWith(`${own}claim-`)) continue;
    const content = (await bucket.get(part.key))?.content;
    if (content !== undefined) added.push(content);
  }
  if (added.length === 0) return;
  if (base.bytes >= MIN_PART_BYTES) return bucket.putBehind(key, base, Buffer.concat(added));
  const kept = base.bytes === 0 ? undefined : await bucket.get(key);
  await bucket.put(key, Buffer.concat([kept?.content ?? Buffer.of(), ...added]), { over: base });
}
