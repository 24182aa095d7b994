import { stat } from "node:fs/promises";

/** Equal stamps, equal contents: for who does not want to read again what has not changed. By path. */
export async function stampAll(files: readonly string[]): Promise<ReadonlyMap<string, string>> {
  return new Map(await Promise.all(files.map(async (file) => [file, await stampOf(file)] as const)));
}

async function stampOf(file: string): Promise<string> {
  try {
    const { mtimeNs, ctimeNs, size, ino } = await stat(file, { bigint: true });
    return `${mtimeNs} ${ctimeNs} ${size} ${ino}`;
  } catch {
    return "none";
  }
}
