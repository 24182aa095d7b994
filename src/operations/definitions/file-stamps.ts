import { type BigIntStats, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { orElse } from "../../core/or-else.ts";

/** Equal stamps, equal contents: for who does not want to read again what has not changed. By path. */
export async function stampAll(files: readonly string[]): Promise<ReadonlyMap<string, string>> {
  return new Map(await Promise.all(files.map(async (file) => [file, await stampOf(file)] as const)));
}

/** The stamp of one file, read synchronously, which is faster than waiting for it. Undefined if it cannot be read. */
export function stampNow(file: string): string | undefined {
  return orElse(() => toStamp(statSync(file, { bigint: true })), undefined);
}

async function stampOf(file: string): Promise<string> {
  return stat(file, { bigint: true }).then(toStamp, () => "none");
}

function toStamp({ mtimeNs, ctimeNs, size, ino }: BigIntStats): string {
  return `${mtimeNs} ${ctimeNs} ${size} ${ino}`;
}
