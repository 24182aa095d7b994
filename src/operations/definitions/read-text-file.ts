import { readFile } from "node:fs/promises";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { refuseOutOfFiles } from "../service/refuse-out-of-files.ts";

/** The text of a file that a user named. Throws `FILE_NOT_FOUND`, `SERVER_BUSY`. */
export async function readTextFile(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    refuseOutOfFiles(cause, path);
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") {
      throw new PawlError("FILE_NOT_FOUND", { message: `File not found: ${path}`, cause });
    }
    const reason = code === "EISDIR" ? "it is a folder" : cause instanceof Error ? cause.message : String(cause);
    throw new PawlError("FILE_NOT_FOUND", { message: `${path} cannot be read: ${reason}.`, cause });
  }
}
