import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Figure } from "./figure.ts";

/** The script that the first page needs, as `npm run check` counts it. */
export async function benchFirstLoad(): Promise<Figure[]> {
  const script = fileURLToPath(new URL("../../scripts/check-page-size.mjs", import.meta.url));
  const { stdout } = spawnSync(process.execPath, [script], { encoding: "utf8" });
  const [, measured, atMost] = /: (\d+) kB .* is (\d+) kB/.exec(stdout) ?? [];
  return [{ name: "script of the first load, gzip", measured: Number(measured), unit: "kB", atMost: Number(atMost) }];
}
