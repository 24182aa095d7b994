import { readFileSync } from "node:fs";
import { PawlError } from "../core/errors/pawl-error.ts";

/** Reads a file of TOML. Throws `CONFIG_INVALID`. */
export async function readToml(path: string): Promise<Record<string, unknown>> {
  const { parse } = await import("smol-toml");
  try {
    return parse(readFileSync(path, "utf8"));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.trimEnd() : String(cause);
    throw new PawlError("CONFIG_INVALID", { message: `${path} cannot be read: ${reason}`, cause });
  }
}
