import type { Command } from "commander";
import type { OpenApp } from "../cli-context.ts";
import type { ServeOptions } from "../commands/serve.ts";
import { toOpenOptions } from "../with-app.ts";
import { toPort } from "./option-values.ts";

/** `pawl dev`, which opens the application again whenever its settings change. */
export function addDev(program: Command, openApp: OpenApp, exitWith: (code: number) => void): void {
  program
    .command("dev")
    .description("serve while you work on the application: settings are read again too")
    .option("--app <dir>", "the application", ".")
    .option("--data <dir>", "where runs are kept (default: .pawl in the application)")
    .option("--host <address>", "where to listen: 127.0.0.1, localhost or ::1")
    .option("--port <n>", "0 picks a free one", toPort)
    .option("--web", "let people watch terminals in a browser (terminal.web_enabled)")
    .action(async (options: ServeOptions) => {
      const [{ dev }, { reportError }] = await Promise.all([
        import("../commands/dev.ts"),
        import("../report-error.ts"),
      ]);
      try {
        exitWith(await dev((voice) => openApp(toOpenOptions(options, voice)), options));
      } catch (error) {
        exitWith(reportError(error, "text"));
      }
    });
}
