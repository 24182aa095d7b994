import { readFile } from "node:fs/promises";
import { parseExact } from "../core/exact-json.ts";

export async function readVersion(): Promise<string> {
  const text = await readFile(new URL("../../package.json", import.meta.url), "utf8");
  return (parseExact(text) as { readonly version: string }).version;
}
