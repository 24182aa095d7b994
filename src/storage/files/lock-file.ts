import { randomUUID } from "node:crypto";
import { link, readFile, rename, stat, unlink, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { setTimeout } from "node:timers/promises";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { isJsonObject, type Json } from "../../core/json.ts";

export interface LockOptions {
  /** How long to wait for the holder. */
  readonly patienceMs: number;
  /** An older lock was left behind, even if its holder seems to be alive. */
  readonly staleMs: number;
}

const DEFAULTS: LockOptions = { patienceMs: 10_000, staleMs: 60_000 };
const LOOK_AGAIN_MS = 10;

export interface HeldLock {
  /** False if it was taken over because it seemed to be left behind. */
  isHeld(): Promise<boolean>;
}

/**
 * Acts while no other process does. The lock is a file that names its holder. It is taken over if its process is gone, or
 * if it is too old. Throws `LIBRARY_LOCKED`.
 */
export async function withLockFile<T>(
  path: string,
  act: (lock: HeldLock) => Promise<T>,
  options: LockOptions = DEFAULTS,
): Promise<T> {
  const token = randomUUID();
  await acquire(path, token, options);
  try {
    return await act({ isHeld: async () => (await readHolder(path))?.token === token });
  } finally {
    if ((await readHolder(path))?.token === token) await removeIfThere(path);
  }
}

async function acquire(path: string, token: string, { patienceMs, staleMs }: LockOptions): Promise<void> {
  const deadline = Date.now() + patienceMs;
  while (!(await tryCreate(path, token))) {
    const holder = await readHolder(path);
    if (holder !== undefined && isLeftBehind(holder, staleMs)) await takeAway(path, holder);
    else if (Date.now() >= deadline) {
      const who = holder === undefined ? "" : ` by process ${holder.pid} on ${holder.host}`;
      throw new PawlError("LIBRARY_LOCKED", { message: `${path} is held${who}.` });
    } else await setTimeout(LOOK_AGAIN_MS);
  }
}

/** The file appears with its content, so that nobody reads half a lock. */
async function tryCreate(path: string, token: string): Promise<boolean> {
  const draft = `${path}.${token}`;
  await writeFile(draft, JSON.stringify({ pid: process.pid, host: hostname(), token }), { mode: 0o600 });
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  } finally {
    await removeIfThere(draft);
  }
}

interface Holder {
  readonly pid: number;
  readonly host: string;
  readonly token: string;
  readonly sinceMs: number;
}

async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    const [text, { mtimeMs }] = await Promise.all([readFile(path, "utf8"), stat(path)]);
    return toHolder(text, mtimeMs);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

function toHolder(text: string, sinceMs: number): Holder {
  const unknown = { pid: 0, host: "", token: text, sinceMs };
  try {
    const value = JSON.parse(text) as Json;
    if (!isJsonObject(value)) return unknown;
    const { pid, host, token } = value;
    if (typeof pid !== "number" || typeof host !== "string" || typeof token !== "string") return unknown;
    return { pid, host, token, sinceMs };
  } catch {
    return unknown;
  }
}

function isLeftBehind({ pid, host, sinceMs }: Holder, staleMs: number): boolean {
  if (Date.now() - sinceMs > staleMs) return true;
  return host === hostname() && !isAlive(pid);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== "ESRCH";
  }
}

/** Only one of several processes moves the lock away. A lock that another has created meanwhile is put back. */
async function takeAway(path: string, { token }: Holder): Promise<void> {
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return;
    throw error;
  }
  if ((await readHolder(aside))?.token !== token) await link(aside, path).catch(() => undefined);
  await removeIfThere(aside);
}

async function removeIfThere(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
