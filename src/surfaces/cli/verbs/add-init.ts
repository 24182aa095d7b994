import type { Command } from "commander";

/** `pawl init`: examples to begin with. */
export function addInit(program: Command, exitWith: (code: number) => void): void {
  const init = program.command("init").description("begin with examples");
  init
    .command("terminal")
    .description("lay out examples of terminal workflows; nothing that is there is touched")
    .argument("[dir]", "the folder for them", ".")
    .option("--json", "answer with one JSON envelope")
    .action(async (dir: string, options: { json?: true }) => {
      exitWith(await (await import("../commands/init.ts")).initTerminal(dir, options));
    });
}
