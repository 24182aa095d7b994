import { glob } from "node:fs/promises";
import { join, relative } from "node:path";
import type { Definition } from "../../dialects/definition.ts";
import { readIfThere } from "../definitions/read-text-file.ts";

const AGENT_FILES = ".claude/agents/**/*.md";

/** Absolute, sorted. */
export async function listAgentFiles(appDir: string): Promise<readonly string[]> {
  const files: string[] = [];
  for await (const file of glob(AGENT_FILES, { cwd: appDir })) files.push(join(appDir, file));
  return files.sort();
}

/** Agents of the application that other programs read too. Problems show their paths relative to it. */
export async function readAgentFiles(appDir: string): Promise<readonly Definition[]> {
  const files = await listAgentFiles(appDir);
  const texts = await Promise.all(files.map((file) => readIfThere(file)));
  return files.flatMap((file, index) => {
    const text = texts[index];
    return text === undefined ? [] : [{ text, file: relative(appDir, file) }];
  });
}
