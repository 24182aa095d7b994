import { readFile } from "node:fs/promises";
import { print } from "../print.ts";

export type Shell = "bash" | "zsh" | "fish";

/** `pawl completion`: what a shell evaluates once, so that it asks `pawl complete` for the words that may stand next. */
export async function printCompletionScript(shell: Shell): Promise<void> {
  print(await readFile(new URL(`../../../../bin/completion/pawl.${shell}`, import.meta.url), "utf8"));
}
