import type { Command } from "commander";

/** `pawl init`: templates and examples to begin with. */
export function addInit(program: Command, exitWith: (code: number) => void): void {
  program
    .command("init")
    .description(
      "begin with a template, or with the examples of terminal workflows (`terminal`); nothing that is there is touched",
    )
    .argument("[template]", "without one: list them")
    .argument("[dir]", "the folder for it; default: named after the template, for `terminal` the current one")
    .option("--list", "list the templates")
    .option("--json", "answer with one JSON envelope")
    .action(async (template: string | undefined, dir: string | undefined, options: { list?: true; json?: true }) => {
      const { initTemplate, initTerminal, listTemplatesCommand } = await import("../commands/init.ts");
      if (template === undefined || options.list === true) exitWith(await listTemplatesCommand(options));
      else if (template === "terminal") exitWith(await initTerminal(dir ?? ".", options));
      else exitWith(await initTemplate(template, dir ?? template, options));
    });
}
