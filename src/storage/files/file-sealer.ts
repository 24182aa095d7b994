import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from "node:crypto";
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { makeFolder } from "../make-folder.ts";

const VERSION = "1";
const PREFIX = `pawl:sealed:${VERSION}:`;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

interface SealerOptions {
  /** The file of the key, readable by its owner alone. It is made when something is first sealed. */
  readonly path: string;
  /** Any text, from which the key is made instead of read from the file. `hex:` and 64 digits are the key of another file. */
  readonly key?: string | undefined;
}

/**
 * Encrypts with AES-256-GCM. A copy of the database alone reveals nothing. Somebody who can read the whole data
 * directory can read the key as well, unless it is configured elsewhere.
 */
export class FileSealer {
  readonly #options: SealerOptions;
  #key: Buffer | undefined;

  constructor(options: SealerOptions) {
    this.#options = options;
  }

  seal(text: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv("aes-256-gcm", this.#findKey() ?? this.#makeKey(), nonce);
    const sealed = Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
    return PREFIX + sealed.toString("base64url");
  }

  derive(purpose: string): Uint8Array {
    return createHmac("sha256", this.#findKey() ?? this.#makeKey())
      .update(purpose)
      .digest();
  }

  /** Throws `SECRET_UNREADABLE`. */
  open(sealed: string): string {
    const key = this.#findKey();
    if (key === undefined) throw unreadable(`${this.#options.path} is not there`);
    const [, version] = /^pawl:sealed:(\d+):/.exec(sealed) ?? [];
    if (version !== undefined && version !== VERSION)
      throw unreadable(`a newer Pawl has sealed it in version ${version}, and this one knows ${VERSION}`);
    if (!sealed.startsWith(PREFIX)) throw unreadable("it was not sealed here");
    const bytes = Buffer.from(sealed.slice(PREFIX.length), "base64url");
    try {
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_BYTES));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      const opened = [decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()];
      return Buffer.concat(opened).toString("utf8");
    } catch (cause) {
      throw unreadable("it was sealed with another key", cause);
    }
  }

  #findKey(): Buffer | undefined {
    const { key, path } = this.#options;
    this.#key ??= key === undefined ? readKey(path) : toKey(key);
    return this.#key;
  }

  /** Two processes may come here at once: the file appears whole, and the first one stays. */
  #makeKey(): Buffer {
    const { path } = this.#options;
    makeFolder(dirname(path));
    const draft = `${path}.${randomBytes(6).toString("hex")}`;
    const file = openSync(draft, "wx", 0o600);
    try {
      writeSync(file, `${randomBytes(32).toString("hex")}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    try {
      linkSync(draft, path);
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    } finally {
      rmSync(draft, { force: true });
    }
    const made = readKey(path);
    if (made === undefined) throw unreadable(`${path} could not be made`);
    this.#key = made;
    return made;
  }
}

function toKey(text: string): Buffer {
  const [, digits] = /^hex:([0-9a-f]{64})$/i.exec(text) ?? [];
  return digits === undefined ? createHash("sha256").update(text).digest() : Buffer.from(digits, "hex");
}

function readKey(path: string): Buffer | undefined {
  try {
    const key = Buffer.from(readFileSync(path, "utf8").trim(), "hex");
    if (key.length !== 32) throw unreadable(`${path} is no key`);
    return key;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

function unreadable(reason: string, cause?: unknown): PawlError {
  return new PawlError("SECRET_UNREADABLE", { message: `A secret of the run cannot be read: ${reason}.`, cause });
}
