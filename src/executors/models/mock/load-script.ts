import { readFile } from "node:fs/promises";
import { isAbsolute, resolve } from "node:path";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { AgentScript } from "./agent-script.ts";

/**
 * Reads the script of a mock model. A definition may only name files of its own application. Throws `FILE_NOT_FOUND`,
 * `FILE_OUTSIDE`, `SCRIPT_INVALID`.
 */
export async function loadScript(
  mock: { readonly script: string; readonly isConfigured: boolean },
  folder: string,
): Promise<AgentScript | undefined> {
  const { script, isConfigured } = mock;
  if (script === "") return undefined;
  if (!isConfigured && (isAbsolute(script) || script.split(/[\\/]/).includes("..")))
    throw new PawlError("FILE_OUTSIDE", { message: `\`mock:${script}\` leads out of the application's folder.` });
  const text = await readScript(resolve(folder, script));
  const { readAgentScript } = await import("./read-agent-script.ts");
  return readAgentScript(text, script);
}

async function readScript(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw new PawlError("FILE_NOT_FOUND", { message: `There is no script of a mock model at ${path}.`, cause });
  }
}
