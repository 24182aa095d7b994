import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PawlError } from "../../core/errors/pawl-error.ts";

export interface SocketPath {
  readonly path: string;
  remove(): void;
}

/** Systems refuse longer ones: 104 bytes on macOS, 108 on Linux, the closing NUL included. */
const MAX_BYTES = 100;

/** Makes the path of the owner's socket: in the data directory, or in a private folder if that path is too long. */
export function makeSocketPath(dataDir: string): SocketPath {
  const inside = join(dataDir, "owner.sock");
  if (Buffer.byteLength(inside) < MAX_BYTES) return { path: inside, remove: () => rmSync(inside, { force: true }) };
  return makePrivateSocketPath();
}

/** In a folder that this process makes. */
export function makePrivateSocketPath(): SocketPath {
  const path = join(mkdtempSync(join(tmpdir(), "pawl-")), "owner.sock");
  return { path, remove: () => rmSync(dirname(path), { recursive: true, force: true }) };
}

/** "/session_" and eight digits. */
const SESSION_BYTES = 17;

/** The folder for sockets of terminals that outlive the owner. Long paths get a folder of the temporary one. Throws if another user made it. */
export function privateSocketFolder(dataDir: string): string {
  const inside = join(dataDir, "terminals");
  if (Buffer.byteLength(inside) + SESSION_BYTES < MAX_BYTES) return inside;
  const name = createHash("sha256").update(dataDir).digest("hex").slice(0, 16);
  const outside = join(tmpdir(), `pawl-${process.getuid?.() ?? 0}-${name}`);
  mkdirSync(outside, { recursive: true, mode: 0o700 });
  const { uid, mode } = lstatSync(outside);
  if (lstatSync(outside).isDirectory() && uid === process.getuid?.() && (mode & 0o077) === 0) return outside;
  throw new PawlError("CONFIG_INVALID", {
    message: `${outside} belongs to another user, and is where the terminals of ${dataDir} would be.`,
    remedy: "Give a shorter path with `--data`.",
  });
}
