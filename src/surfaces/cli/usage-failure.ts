import type { Command, CommanderError } from "commander";

/** What was not understood of a command line, and the verb whose help says more. */
export class UsageFailure extends Error {
  readonly refused: CommanderError;
  /** As it is typed. */
  readonly verb: string;

  constructor(refused: CommanderError, command: Command) {
    super(refused.message);
    this.refused = refused;
    this.verb = pathOf(command);
  }
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
