import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface SocketPath {
  readonly path: string;
  /** Removes what was made for it. */
  remove(): void;
}

/** Systems refuse longer ones: 104 bytes on macOS, 108 on Linux, the closing NUL included. */
const MAX_BYTES = 100;

/** Where the owner of a data directory listens: in it, or in a private folder of its own where that path is too long. */
export function makeSocketPath(dataDir: string): SocketPath {
  const inside = join(dataDir, "owner.sock");
  if (Buffer.byteLength(inside) < MAX_BYTES) return { path: inside, remove: () => rmSync(inside, { force: true }) };
  const path = join(mkdtempSync(join(tmpdir(), "pawl-")), "owner.sock");
  return { path, remove: () => rmSync(dirname(path), { recursive: true, force: true }) };
}
