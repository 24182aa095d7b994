import { type Command, Option } from "commander";

/** Options that every command takes. */
export function withCommon(command: Command): Command {
  return command
    .option("--app <dir>", "the application", ".")
    .option("--data <dir>", "where runs are kept (default: .pawl in the application)")
    .option("--lenient", "take likely misspellings in definitions as they are written, with a warning")
    .option("--url <url>", "have the server at this address do it (default: PAWL_URL)")
    .option("--api-key <key>", "with --url; better in PAWL_API_KEY, where no list of processes shows it")
    .option("--json", "answer with one JSON envelope (--json=lines: every event as it happens)")
    .addOption(new Option("--json-lines").hideHelp());
}

/** An option that may be given more than once. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
