import { glob } from "node:fs/promises";
import { join, relative } from "node:path";
import type { Definition } from "../../../dialects/definition.ts";
import { readIfThere } from "../read-text-file.ts";
import { findWorkspace } from "./workspace.ts";

const AGENT_FILES = ".claude/agents/**/*.md";

/** Absolute, sorted. */
export async function listAgentFiles(appDir: string): Promise<readonly string[]> {
  const files: string[] = [];
  for await (const file of glob(AGENT_FILES, { cwd: appDir })) files.push(join(appDir, file));
  return files.sort();
}

/**
 * The files of agents beside `asking`: those of the workspace, then those that other programs read too. Problems show their paths
 * relative to the application.
 */
export async function readAgentFiles(appDir: string, asking: string | undefined): Promise<readonly Definition[]> {
  const { own, others } = await findWorkspace(appDir);
  const files = await listAgentFiles(appDir);
  const texts = await Promise.all(files.map((file) => readIfThere(file)));
  const markdown = files.flatMap((file, index) => {
    const text = texts[index];
    return text === undefined || file === asking ? [] : [{ text, file: relative(appDir, file) }];
  });
  const components = [...own, ...others].filter(({ path }) => path !== asking).map(({ definition }) => definition);
  return [...components, ...markdown];
}
