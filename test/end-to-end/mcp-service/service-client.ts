import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Client, type VersionNegotiationOptions } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { onTestFinished } from "vitest";
import { isThere, type TerminalClient, toTerminalClient } from "../mcp-terminal/terminal-client.ts";
import { pawlCommand } from "../support/pawl.ts";

/** A client of a `pawl mcp` of its own over real stdio, which ends with the test. */
export async function connectService(
  folder: string,
  negotiation: VersionNegotiationOptions = { mode: "legacy" },
): Promise<TerminalClient> {
  const { command, env } = pawlCommand(["mcp"], { cwd: folder });
  const [program = "", ...args] = command;
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: negotiation });
  onTestFinished(() => client.close());
  const transport = new StdioClientTransport({ command: program, args, env, cwd: folder, stderr: "ignore" });
  await client.connect(transport);
  return toTerminalClient(client, transport.pid ?? 0);
}

/** A process in the background owns the data for a moment: the test ends it. */
export function endOwner(folder: string): void {
  onTestFinished(() => {
    const file = join(folder, ".pawl", "lock.json");
    if (!existsSync(file)) return;
    const { pid } = JSON.parse(readFileSync(file, "utf8")) as { readonly pid: number };
    if (pid !== process.pid && isThere(pid)) process.kill(pid, "SIGKILL");
  });
}
