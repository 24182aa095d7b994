import { type BigIntStats, statSync } from "node:fs";
import { stat } from "node:fs/promises";

/** Equal stamps, equal contents: for who does not want to read again what has not changed. By path. */
export async function stampAll(files: readonly string[]): Promise<ReadonlyMap<string, string>> {
  return new Map(await Promise.all(files.map(async (file) => [file, await stampOf(file)] as const)));
}

/** Of one file, at once: a look is so short that waiting for it takes longer. Undefined: it cannot be looked at. */
export function stampNow(file: string): string | undefined {
  try {
    return toStamp(statSync(file, { bigint: true }));
  } catch {
    return undefined;
  }
}

async function stampOf(file: string): Promise<string> {
  try {
    return toStamp(await stat(file, { bigint: true }));
  } catch {
    return "none";
  }
}

function toStamp({ mtimeNs, ctimeNs, size, ino }: BigIntStats): string {
  return `${mtimeNs} ${ctimeNs} ${size} ${ino}`;
}
