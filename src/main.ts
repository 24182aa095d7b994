import { runCli } from "./surfaces/cli/run-cli.ts";

const program = [process.execPath, ...process.execArgv, process.argv[1] ?? ""];

process.exitCode = await runCli(process.argv.slice(2), async (options) => {
  const { createApp } = await import("./app/create-app.ts");
  return createApp({ ...options, program });
});
