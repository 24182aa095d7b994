import { isPawlError } from "../core/errors/pawl-error.ts";
import type { Blobs } from "../ports/blobs.ts";

/** Reads what was put elsewhere before: runs go on after their values have got another place. Nothing is written there. */
export function withOlderBlobs(blobs: Blobs, older: Blobs): Blobs {
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
