import { readProxies } from "./core/proxy-variables.ts";
import { runCli } from "./surfaces/cli/run-cli.ts";

async function main(): Promise<void> {
  const proxies = readProxies(process.env);
  if (proxies !== undefined) (await import("./app/use-proxies.ts")).useProxies(proxies);

  const program = [process.execPath, ...process.execArgv, process.argv[1] ?? ""];
  process.exitCode = await runCli(process.argv.slice(2), async (options) => {
    const { createApp } = await import("./app/create-app.ts");
    return createApp({ ...options, program });
  });
}

void main();
