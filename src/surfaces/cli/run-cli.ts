import { readVersion } from "../../config/read-version.ts";
import { ERRORS } from "../../core/errors/error-table.ts";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { OpenApp } from "./cli-context.ts";
import { print } from "./print.ts";
import { io } from "./process-io.ts";
import { buildProgram } from "./program.ts";
import { reportError } from "./report-error.ts";
import { UsageFailure } from "./usage-failure.ts";

/** Runs one command line and returns its exit code. Never rejects. */
export async function runCli(args: readonly string[], openApp: OpenApp): Promise<number> {
  const { stdout, stderr, exit } = io();
  // The reader of our output may stop reading: `pawl runs ls | head -1`.
  stdout.on("error", (error) => exit("code" in error && error.code === "EPIPE" ? 0 : 1));
  // Nobody needs the lines beside the data. A closed stderr is no reason to stop the runs.
  stderr.on("error", () => undefined);
  if (args[0] === "--version" || args[0] === "-V") {
    print(await readVersion());
    return 0;
  }
  if (args[0] === "complete") {
    const { complete } = await import("./commands/complete.ts");
    await complete(args.slice(args[1] === "--" ? 2 : 1), openApp);
    return 0;
  }
  const written = args.map((arg) => (arg === "--json=lines" ? "--json-lines" : arg));
  let exitCode = 0;
  try {
    const program = await buildProgram(written, openApp, (code) => {
      exitCode = code;
    });
    await program.parseAsync(written, { from: "user" });
    return exitCode;
  } catch (error) {
    return reportFailure(error, written);
  }
}

function reportFailure(error: unknown, written: readonly string[]): number {
  const format = written.includes("--json-lines") ? "lines" : written.includes("--json") ? "json" : "text";
  if (!(error instanceof UsageFailure)) return reportError(error, format);
  const { refused, verb } = error;
  if (refused.exitCode === 0) return 0;
  // A command that only has others below it: its help has been shown.
  if (refused.code === "commander.help" && format === "text") return ERRORS.USAGE.exitCode;
  const message = refused.message.replace(/^error: /, "");
  return reportError(new PawlError("USAGE", { message, remedy: `See \`${verb} --help\`.` }), format);
}
