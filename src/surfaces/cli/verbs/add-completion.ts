import { Argument, type Command } from "commander";
import type { Shell } from "../commands/completion.ts";

/** `pawl completion`. */
export function addCompletion(program: Command, exitWith: (code: number) => void): void {
  program
    .command("completion")
    .description("print what completes verbs, options and names in a shell: source <(pawl completion bash)")
    .addArgument(new Argument("<shell>", "whose").choices(["bash", "zsh", "fish"]))
    .action(async (shell: Shell) => {
      const { printCompletionScript } = await import("../commands/completion.ts");
      await printCompletionScript(shell);
      exitWith(0);
    });
}
