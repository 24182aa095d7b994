import { randomUUID } from "node:crypto";
import { addAbortSignal, type Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { S3Client } from "@aws-sdk/client-s3";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import type { ByteRange } from "../../ports/file-storage.ts";
import { isNotFound, toStoreFailure } from "./store-failure.ts";

export interface BucketOptions {
  readonly bucket: string;
  /** Before every key: nothing, or a text that ends in `/`. */
  readonly prefix: string;
  readonly endpoint: string | undefined;
  readonly region: string;
  /** Undefined: found as the SDK finds them, for example the role of a machine. */
  readonly credentials:
    | { readonly accessKeyId: string; readonly secretAccessKey: string; readonly sessionToken: string | undefined }
    | undefined;
  /** How long one operation may take with all its tries. What is large gets longer. */
  readonly timeoutMs: number;
}

export interface StoredObject {
  readonly etag: string;
  readonly bytes: number;
  readonly metadata: Readonly<Record<string, string>>;
  readonly modifiedAt: number;
}

/** An object, or the range of it that was asked for. */
interface ReadObject extends StoredObject {
  readonly content: Buffer;
}

interface ListedObject {
  readonly key: string;
  readonly bytes: number;
  readonly modifiedAt: number;
}

export interface PutOptions {
  /** Only if this is still there, or nothing is. A store that does not know conditions writes all the same. */
  readonly over?: StoredObject | "nothing";
}

/**
 * The store's metadata of an object: the ids of the latest writes on a condition. The answer to one may be lost, and its second try
 * is then refused because of the first one.
 */
const WRITES = "pawl-writes";
const ID_LENGTH = 12;
/** The metadata of an object may have 2 KB. */
const MAX_IDS = 64;

type Sdk = typeof import("@aws-sdk/client-s3");

const PACKAGE = "@aws-sdk/client-s3@3.1173.0";
const MAX_TRIES = 3;
const CONNECT_MS = 5_000;
const CHECK_MS = 3_000;
const AT_ONCE = 48;
/** A look at the bucket waits for nothing. */
const MAX_SOCKETS = 64;
const PROBE = "probe";
/** A line that is slower than 100 KB a second is taken for one that is broken. */
const BYTES_PER_MS = 100;
/** Parts of an upload that are not the last one have to be as large. */
export const MIN_PART_BYTES = 5 * 1024 * 1024;
const MAX_PART_BYTES = 1024 * 1024 * 1024;

/**
 * One bucket of an S3-compatible store, and the few verbs that are used of it. Every call ends in time. Throws
 * `STORAGE_UNAVAILABLE`, `STORAGE_REFUSED`, `STORAGE_CHANGED`.
 */
export class S3Bucket {
  readonly options: BucketOptions;
  readonly #sdk: Sdk;
  readonly #client: S3Client;
  readonly #turns = new Turns(AT_ONCE);

  /** Throws `PACKAGE_MISSING`. The SDK takes some time to load: this is for who has configured a bucket. */
  static async open(options: BucketOptions): Promise<S3Bucket> {
    return new S3Bucket(options, await loadSdk());
  }

  private constructor(options: BucketOptions, sdk: Sdk) {
    this.options = options;
    this.#sdk = sdk;
    const { endpoint, credentials, region } = options;
    this.#client = new sdk.S3Client({
      region,
      forcePathStyle: true,
      maxAttempts: MAX_TRIES,
      // What goes wrong is an error of ours. The SDK would write to the console.
      logger: SILENT,
      requestHandler: {
        connectionTimeout: CONNECT_MS,
        httpAgent: { maxSockets: MAX_SOCKETS },
        httpsAgent: { maxSockets: MAX_SOCKETS },
        logger: SILENT,
      },
      // Other stores do not know the newer checksums. Values are checked by their hash when they are read.
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
      ...(endpoint === undefined ? {} : { endpoint }),
      ...(credentials === undefined ? {} : { credentials: { ...credentials, ...tokenOf(credentials) } }),
    });
  }

  /** The store's time in milliseconds, as its answers tell it: the clock of this machine may be wrong. */
  now(): number {
    return Date.now() + this.#client.config.systemClockOffset;
  }

  async put(key: string, content: string | Uint8Array, options: PutOptions = {}): Promise<void> {
    const body = typeof content === "string" ? Buffer.from(content) : content;
    const id = randomUUID().slice(-ID_LENGTH);
    const command = new this.#sdk.PutObjectCommand({
      ...this.#at(key),
      Body: body,
      ContentLength: body.byteLength,
      ...toCondition(options, id),
    });
    await this.#unlessDone(key, id, () =>
      this.#within(body.byteLength, (abortSignal) => this.#client.send(command, { abortSignal })),
    );
  }

  /** Undefined: it is not there. */
  async head(key: string): Promise<StoredObject | undefined> {
    const command = new this.#sdk.HeadObjectCommand(this.#at(key));
    return this.#ifThere(0, async (abortSignal) => toStored(await this.#client.send(command, { abortSignal })));
  }

  /** Undefined: it is not there, or ends before the range begins. */
  async get(key: string, range?: ByteRange): Promise<ReadObject | undefined> {
    const Range = range === undefined ? undefined : `bytes=${range.from}-${range.to - 1}`;
    const command = new this.#sdk.GetObjectCommand({ ...this.#at(key), Range });
    return this.#ifThere(0, async (abortSignal) => {
      const answer = await this.#client.send(command, { abortSignal });
      const stored = toStored(answer);
      return {
        ...stored,
        content: await buffer(addAbortSignal(this.#deadline(stored.bytes), answer.Body as Readable)),
      };
    });
  }

  /** Removing what is not there is nothing. */
  async remove(key: string): Promise<void> {
    const command = new this.#sdk.DeleteObjectCommand(this.#at(key));
    await this.#ifThere(0, (abortSignal) => this.#client.send(command, { abortSignal }));
  }

  /** All objects whose keys begin so, in the order of their keys. */
  async *list(prefix: string): AsyncGenerator<ListedObject> {
    for await (const { Contents = [], EncodingType } of this.#pages({ Prefix: prefix })) {
      for (const { Key = "", Size = 0, LastModified } of Contents) {
        const key = this.#shown(Key, EncodingType);
        yield { key, bytes: Size, modifiedAt: LastModified?.getTime() ?? 0 };
      }
    }
  }

  /** The folders beside one another whose names begin so, each with a `/` at its end. */
  async *listFolders(prefix: string): AsyncGenerator<string> {
    for await (const { CommonPrefixes = [], EncodingType } of this.#pages({ Prefix: prefix, Delimiter: "/" }))
      for (const { Prefix = "" } of CommonPrefixes) yield this.#shown(Prefix, EncodingType);
  }

  /** Whether there is any object whose key begins so. */
  async hasAny(prefix: string): Promise<boolean> {
    for await (const { Contents = [] } of this.#pages({ Prefix: prefix, MaxKeys: 1 })) return Contents.length > 0;
    return false;
  }

  /** Puts `content` behind an object of at least `MIN_PART_BYTES`, if it is still there. The store copies it: it is not sent again. */
  async putBehind(key: string, before: StoredObject, content: Uint8Array): Promise<void> {
    const at = this.#at(key);
    const id = randomUUID().slice(-ID_LENGTH);
    const { Metadata = {}, ...condition } = toCondition({ over: before }, id);
    const create = new this.#sdk.CreateMultipartUploadCommand({ ...at, Metadata });
    const { UploadId } = await this.#within(0, (abortSignal) => this.#client.send(create, { abortSignal }));
    const upload = { ...at, UploadId };
    try {
      const parts: { PartNumber: number; ETag: string | undefined }[] = [];
      const source = `${this.options.bucket}/${at.Key}`.split("/").map(encodeURIComponent).join("/");
      for (const { from, to } of toRanges(before.bytes)) {
        const PartNumber = parts.length + 1;
        const command = new this.#sdk.UploadPartCopyCommand({
          ...upload,
          PartNumber,
          CopySource: source,
          CopySourceRange: `bytes=${from}-${to - 1}`,
          CopySourceIfMatch: before.etag,
        });
        const answer = await this.#within(to - from, (abortSignal) => this.#client.send(command, { abortSignal }));
        parts.push({ PartNumber, ETag: answer.CopyPartResult?.ETag });
      }
      const last = new this.#sdk.UploadPartCommand({
        ...upload,
        PartNumber: parts.length + 1,
        Body: content,
        ContentLength: content.byteLength,
      });
      const { ETag } = await this.#within(content.byteLength, (abortSignal) =>
        this.#client.send(last, { abortSignal }),
      );
      parts.push({ PartNumber: parts.length + 1, ETag });
      const complete = new this.#sdk.CompleteMultipartUploadCommand({
        ...upload,
        MultipartUpload: { Parts: parts },
        ...condition,
      });
      await this.#unlessDone(key, id, () =>
        this.#within(before.bytes, (abortSignal) => this.#client.send(complete, { abortSignal })),
      );
    } catch (error) {
      const abort = new this.#sdk.AbortMultipartUploadCommand(upload);
      await this.#within(0, (abortSignal) => this.#client.send(abort, { abortSignal })).catch(() => undefined);
      throw error;
    }
  }

  /** Writes an object without content. Throws what `put` throws, and sooner. */
  async check(): Promise<void> {
    const timeoutMs = Math.min(this.options.timeoutMs, CHECK_MS);
    // What can be read cannot always be written, and only a write says whether something could be kept.
    const command = new this.#sdk.PutObjectCommand({ ...this.#at(PROBE), Body: "", ContentLength: 0 });
    try {
      await this.#client.send(command, { abortSignal: AbortSignal.timeout(timeoutMs) });
    } catch (error) {
      throw toStoreFailure(error, this.options);
    }
  }

  async #unlessDone(key: string, id: string, write: () => Promise<unknown>): Promise<void> {
    try {
      await write();
    } catch (error) {
      const isChanged = isPawlError(error) && error.code === "STORAGE_CHANGED";
      if (!isChanged || !writesOf(await this.head(key)).includes(id)) throw error;
    }
  }

  #at(key: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.options.bucket, Key: this.options.prefix + key };
  }

  #shown(key: string, encoding: string | undefined): string {
    const plain = encoding === "url" ? decodeURIComponent(key.replaceAll("+", " ")) : key;
    return plain.slice(this.options.prefix.length);
  }

  async *#pages(asked: { readonly Prefix: string; readonly Delimiter?: string; readonly MaxKeys?: number }) {
    let ContinuationToken: string | undefined;
    do {
      const command = new this.#sdk.ListObjectsV2Command({
        ...asked,
        Bucket: this.options.bucket,
        Prefix: this.options.prefix + asked.Prefix,
        // XML cannot hold every character that a key can.
        EncodingType: "url",
        ContinuationToken,
      });
      const page = await this.#within(0, (abortSignal) => this.#client.send(command, { abortSignal }));
      yield page;
      ContinuationToken = page.IsTruncated === true ? page.NextContinuationToken : undefined;
    } while (ContinuationToken !== undefined);
  }

  #deadline(bytes: number): AbortSignal {
    return AbortSignal.timeout(Math.ceil(this.options.timeoutMs + bytes / BYTES_PER_MS));
  }

  async #ifThere<T>(bytes: number, work: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    return this.#within(bytes, async (signal) => {
      try {
        return await work(signal);
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    });
  }

  async #within<T>(bytes: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    try {
      return await this.#turns.take(() => work(this.#deadline(bytes)));
    } catch (error) {
      throw toStoreFailure(error, this.options);
    }
  }
}

const ignore = () => undefined;
const SILENT = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };

async function loadSdk(): Promise<Sdk> {
  try {
    return await import("@aws-sdk/client-s3");
  } catch (cause) {
    const isMissing = cause instanceof Error && "code" in cause && cause.code === "ERR_MODULE_NOT_FOUND";
    if (!isMissing) throw cause;
    throw new PawlError("PACKAGE_MISSING", {
      message: "STORAGE_BACKEND is s3, and the package @aws-sdk/client-s3 is not installed.",
      remedy: `npm install --save-exact ${PACKAGE}`,
      cause,
    });
  }
}

function tokenOf({ sessionToken }: NonNullable<BucketOptions["credentials"]>) {
  return sessionToken === undefined ? {} : { sessionToken };
}

interface Condition {
  readonly Metadata?: Record<string, string>;
  readonly IfMatch?: string;
  readonly IfNoneMatch?: string;
}

function toCondition({ over }: PutOptions, id: string): Condition {
  if (over === undefined) return {};
  if (over === "nothing") return { Metadata: { [WRITES]: id }, IfNoneMatch: "*" };
  return { Metadata: { [WRITES]: (writesOf(over) + id).slice(-ID_LENGTH * MAX_IDS) }, IfMatch: over.etag };
}

function writesOf(object: StoredObject | undefined): string {
  return object?.metadata[WRITES] ?? "";
}

function toStored(answer: {
  readonly ETag?: string | undefined;
  readonly ContentLength?: number | undefined;
  readonly Metadata?: Readonly<Record<string, string>> | undefined;
  readonly LastModified?: Date | undefined;
}): StoredObject {
  const { ETag: etag = "", ContentLength: bytes = 0, Metadata: metadata = {}, LastModified } = answer;
  return { etag, bytes, metadata, modifiedAt: LastModified?.getTime() ?? 0 };
}

/** Ranges of nearly one size, so that none is too small to be a part. */
function toRanges(bytes: number): readonly ByteRange[] {
  const count = Math.ceil(bytes / MAX_PART_BYTES);
  const at = (index: number) => Math.floor((bytes * index) / count);
  return Array.from({ length: count }, (_, index) => ({ from: at(index), to: at(index + 1) }));
}

/** Lets so many pieces of work go on at once, and the others wait in line: their time begins when they do. */
class Turns {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
