import { PawlError } from "../../core/errors/pawl-error.ts";

/** Nothing is wrong with the file: the process has too much open at the moment. Throws `SERVER_BUSY`. */
export function refuseOutOfFiles(error: unknown, path: string): void {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code !== "EMFILE" && code !== "ENFILE") return;
  throw new PawlError("SERVER_BUSY", {
    message: `${path} cannot be read: as many files and connections are open as the system allows.`,
    remedy: "Try again in a moment, or allow more of them (`ulimit -n`).",
    cause: error,
  });
}
