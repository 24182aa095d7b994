import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { Client, type VersionNegotiationOptions } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { onTestFinished } from "vitest";
import { parseExact } from "../../../src/core/exact-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../src/core/json.ts";
import { pawlCommand } from "../support/pawl.ts";

export const ERAS = [
  ["2025", { mode: "legacy" }],
  ["2026", { mode: { pin: "2026-07-28" } }],
] as const;

type CallTool = Client["callTool"];

export interface TerminalClient {
  readonly client: Client;
  /** Of the server. */
  readonly pid: number;
  /** What a tool gives, as structured content. */
  call(name: string, args?: JsonObject, options?: Parameters<CallTool>[1]): Promise<JsonObject>;
  /** What a tool says that reports an error. */
  refusal(name: string, args: JsonObject): Promise<string>;
}

/** A client of a `pawl mcp terminal` of its own, which ends with the test. */
export async function connectTerminal(
  folder: string,
  {
    negotiation = { mode: "legacy" },
    options = [],
    env = {},
  }: {
    readonly negotiation?: VersionNegotiationOptions;
    readonly options?: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
  } = {},
): Promise<TerminalClient> {
  const { command, env: bare } = pawlCommand(["mcp", "terminal", ...options], { cwd: folder, env });
  const [program = "", ...args] = command;
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: negotiation });
  onTestFinished(() => client.close());
  const transport = new StdioClientTransport({
    command: program,
    args,
    env: { ...bare, ...env },
    cwd: folder,
    stderr: "ignore",
  });
  await client.connect(transport);
  return toTerminalClient(client, transport.pid ?? 0);
}

export function toTerminalClient(client: Client, pid: number): TerminalClient {
  return {
    client,
    pid,
    async call(name, args = {}, options) {
      const result = await client.callTool({ name, arguments: args }, options);
      // The SDK rounds large integers of the structured content; the text is the same JSON.
      const isWhole = result.isError !== true && isJsonObject(result.structuredContent as Json | undefined);
      if (!isWhole) throw new Error(textOf(result.content));
      return parseExact<JsonObject>(textOf(result.content));
    },
    async refusal(name, args) {
      const result = await client.callTool({ name, arguments: args });
      if (result.isError !== true) throw new Error(`${name} was not refused: ${textOf(result.content)}`);
      return textOf(result.content);
    },
  };
}

/** A `pawl mcp terminal --http` and where it listens. */
export async function startHttp(
  folder: string,
  options: readonly string[] = [],
  more: Readonly<Record<string, string>> = {},
) {
  const { command, env } = pawlCommand(["mcp", "terminal", "--http", ...options], { cwd: folder, env: more });
  const [program = "", ...args] = command;
  const child = spawn(program, args, { cwd: folder, env: { ...env, ...more }, stdio: ["ignore", "ignore", "pipe"] });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const [said] = (await once(child.stderr, "data")) as [Buffer];
  return { child, ...readListening(String(said)) };
}

/** The address that a server of MCP tells, and the token that nobody has chosen. */
export function readListening(said: string): { readonly url: URL; readonly token: string | undefined } {
  return {
    url: new URL(/http:\S+/.exec(said)?.[0] ?? `http://none/${said}`),
    token: /Bearer ([\w-]+)/.exec(said)?.[1],
  };
}

function textOf(content: Awaited<ReturnType<CallTool>>["content"]): string {
  const [first] = content;
  return first?.type === "text" ? first.text : "";
}

/** Resolves when no process has this id any more. */
export async function gone(pid: number): Promise<void> {
  while (isThere(pid)) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** A process whose end nobody has taken note of is no more. */
export function isThere(pid: number): boolean {
  const stat = `/proc/${pid}/stat`;
  try {
    return existsSync(stat) && !/\) Z /.test(readFileSync(stat, "utf8"));
  } catch {
    return false;
  }
}
