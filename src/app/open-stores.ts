import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { link, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Settings } from "../config/settings.ts";
import { isPawlError, PawlError } from "../core/errors/pawl-error.ts";
import type { Blobs } from "../ports/blobs.ts";
import type { FileStorage } from "../ports/file-storage.ts";
import { makeFolder } from "../storage/make-folder.ts";
import type { BucketOptions } from "../storage/s3/s3-bucket.ts";
import { parseStoragePath } from "../storage/storage-path.ts";

/** Where large values and files are kept. This file alone decides which adapters these are. */
export interface Stores {
  readonly blobs: Blobs;
  readonly files: FileStorage;
  /** Undefined: they are in the data folder. */
  readonly bucket: OpenBucket | undefined;
}

interface OpenBucket {
  /** For a person: its name and its address. */
  readonly place: string;
  /** Why it does not answer. Undefined: it does. */
  findTrouble(): Promise<PawlError | undefined>;
  /** Throws `STORAGE_SHARED` where other data has put blobs there, too. */
  refuseOthers(): Promise<void>;
}

/**
 * `database`: what refers to the blobs, where that is not in the data folder. Throws `CONFIG_INVALID`, `PACKAGE_MISSING`.
 * Whether a bucket answers is found out when it is used.
 */
export async function openStores(
  dataDir: string,
  settings: Settings["storage"],
  database?: Promise<{ dataId(): Promise<string> }>,
): Promise<Stores> {
  if (settings.backend !== "s3") return openInFolder(dataDir, database !== undefined);
  return openInBucket(dataDir, settings, async () => (await database)?.dataId() ?? readDataId(dataDir));
}

/** The files of a folder on this machine. `incoming`: where unfinished writes lie. */
export async function openFolder(folder: string, incoming?: string): Promise<FileStorage> {
  const { LocalFileStorage } = await import("../storage/files/local-file-storage.ts");
  return new LocalFileStorage(folder, incoming);
}

async function openInFolder(dataDir: string, isShared: boolean): Promise<Stores> {
  const [blobs, files] = [await openFileBlobs(dataDir), await openFolder(join(dataDir, "storage"))];
  return { blobs: isShared ? tellingOfMachines(blobs) : blobs, files, bucket: undefined };
}

/** Other processes of the same database may be on other machines. */
function tellingOfMachines(blobs: Blobs): Blobs {
  return {
    put: (content) => blobs.put(content),
    get: (sha256) =>
      blobs.get(sha256).catch((cause: unknown) => {
        if (!isPawlError(cause) || cause.code !== "BLOB_MISSING") throw cause;
        throw new PawlError("BLOB_MISSING", {
          message: `${cause.message.replace(/\.$/, "")} on this machine. A process with another data folder may have written it there.`,
          remedy:
            "Keep values in a bucket (STORAGE_BACKEND=s3), or give all processes of the database one data folder. Copy the `blobs` folder of the other machine to have what it has written so far.",
          cause,
        });
      }),
    list: () => blobs.list(),
    remove: (sha256, options) => blobs.remove(sha256, options),
  };
}

async function openFileBlobs(dataDir: string): Promise<Blobs> {
  const { FileBlobs } = await import("../storage/files/file-blobs.ts");
  return new FileBlobs(join(dataDir, "blobs"));
}

async function openInBucket(
  dataDir: string,
  settings: Settings["storage"],
  dataId: () => Promise<string>,
): Promise<Stores> {
  const options = toBucketOptions(settings);
  const [{ S3Bucket }, { S3Blobs }, { S3FileStorage }] = await Promise.all([
    import("../storage/s3/s3-bucket.ts"),
    import("../storage/s3/s3-blobs.ts"),
    import("../storage/s3/s3-file-storage.ts"),
  ]);
  const bucket = await S3Bucket.open(options);
  const blobs = new S3Blobs(bucket, dataId);
  const files = new S3FileStorage(bucket);
  const folder = options.prefix === "" ? "" : ` (${options.prefix})`;
  const hasOlder = existsSync(join(dataDir, "blobs"));
  return {
    blobs: hasOlder ? withOlderBlobs(blobs, await openFileBlobs(dataDir)) : blobs,
    files,
    bucket: {
      place: `the bucket "${options.bucket}"${folder} at ${options.endpoint ?? "Amazon S3"}`,
      findTrouble: remember(() => findTrouble(bucket)),
      refuseOthers: () => blobs.refuseOthers(),
    },
  };
}

function toBucketOptions(settings: Settings["storage"]): BucketOptions {
  const { bucket, endpoint, prefix, aws_access_key_id: accessKeyId, aws_secret_access_key: secretAccessKey } = settings;
  if (bucket === undefined || bucket === "")
    throw invalid("STORAGE_BACKEND is s3, and STORAGE_BUCKET (`storage.bucket`) names no bucket");
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined))
    throw invalid("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY belong together, and one of them is missing");
  if (endpoint !== undefined) refuseEndpoint(endpoint);
  const folder = prefix.replace(/\/$/, "");
  if (folder !== "") refusePrefix(folder);
  return {
    bucket,
    endpoint,
    prefix: folder === "" ? "" : `${folder}/`,
    region: settings.aws_region,
    credentials:
      accessKeyId === undefined || secretAccessKey === undefined
        ? undefined
        : { accessKeyId, secretAccessKey, sessionToken: settings.aws_session_token },
    timeoutMs: settings.timeout_ms,
  };
}

/** The address is shown in errors: a password in it would be too. */
function refuseEndpoint(endpoint: string): void {
  const url = URL.parse(endpoint);
  const name = "STORAGE_ENDPOINT (`storage.endpoint`)";
  if (url === null || !/^https?:$/.test(url.protocol))
    throw invalid(`${name} is no address such as http://localhost:9000`);
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "")
    throw invalid(`${name} may hold no user, password or parameters: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`);
}

function refusePrefix(folder: string): void {
  try {
    parseStoragePath(folder);
  } catch (cause) {
    const why = cause instanceof Error ? ` ${cause.message}` : "";
    throw invalid(`\`storage.prefix\` is no path such as \`production/pawl\`.${why}`.replace(/\.$/, ""));
  }
}

function invalid(message: string): PawlError {
  return new PawlError("CONFIG_INVALID", { message: `${message}.` });
}

async function findTrouble(bucket: { check(): Promise<void> }): Promise<PawlError | undefined> {
  try {
    await bucket.check();
    return undefined;
  } catch (error) {
    if (isPawlError(error)) return error;
    throw error;
  }
}

const REMEMBERED_MS = 2_000;

/** Monitors ask often, and each look is a paid request. */
function remember<T>(look: () => Promise<T>): () => Promise<T> {
  let last: { readonly at: number; readonly found: Promise<T> } | undefined;
  return () => {
    if (last === undefined || performance.now() - last.at > REMEMBERED_MS)
      last = { at: performance.now(), found: look() };
    return last.found;
  };
}

/** Names the data of this folder, also in a copy that is restored elsewhere. It is made when it is first needed. */
async function readDataId(dataDir: string): Promise<string> {
  const path = join(dataDir, "storage-id");
  const known = await readFile(path, "utf8").catch(() => undefined);
  if (known !== undefined) return known.trim();
  makeFolder(dataDir);
  // Two processes may come here at once: the file appears whole, and the first one stays.
  const draft = `${path}.${randomUUID()}`;
  try {
    await writeFile(draft, `${randomUUID()}\n`, { mode: 0o600, flush: true });
    await link(draft, path).catch(() => undefined);
  } finally {
    await rm(draft, { force: true });
  }
  return (await readFile(path, "utf8")).trim();
}

/** Reads what was put elsewhere before: runs go on after their values have got another place. Nothing is written there. */
function withOlderBlobs(blobs: Blobs, older: Blobs): Blobs {
  return {
    put: (content) => blobs.put(content),
    // Asked first, because it is on this machine and says at once what it lacks.
    get: (sha256) =>
      older.get(sha256).catch((error: unknown) => {
        if (!isPawlError(error) || error.code !== "BLOB_MISSING") throw error;
        return blobs.get(sha256);
      }),
    list: () => blobs.list(),
    remove: (sha256, options) => blobs.remove(sha256, options),
  };
}
