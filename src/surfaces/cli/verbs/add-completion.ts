import { Argument, type Command } from "commander";
import { io } from "../process-io.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;

/** `pawl completion`, made from the verbs that the program has. */
export function addCompletion(program: Command, exitWith: (code: number) => void): void {
  program
    .command("completion")
    .description("print what completes verbs and options in a shell: source <(pawl completion bash)")
    .addArgument(new Argument("<shell>", "whose").choices(SHELLS))
    .action(async (shell: (typeof SHELLS)[number]) => {
      const { completionScript } = await import("../commands/completion.ts");
      io().stdout.write(completionScript(shell, program));
      exitWith(0);
    });
}
