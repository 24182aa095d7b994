import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import { isJsonObject, type Json, type JsonObject } from "../../src/core/json.ts";
import { pawlCommand } from "../end-to-end/support/pawl.ts";

/** What a foreign client is asked to do, and what it gets. */
export interface ForeignClient {
  listTools(): Promise<readonly string[]>;
  /** What a tool gives, as structured content. */
  call(tool: string, args?: JsonObject): Promise<JsonObject>;
  /** The text of a resource. */
  read(uri: string): Promise<string>;
  listPrompts(): Promise<readonly string[]>;
}

/** Ours over stdio, as an `.mcp.json` names it, or a URL. */
export type Target = Program | { readonly url: string; readonly token?: string | undefined };

interface Program {
  readonly app: string;
  /** As it is typed: `mcp`, `mcp terminal`. */
  readonly verb: readonly string[];
}

const MODULES = new URL("node_modules/", import.meta.url);

/** The MCP Inspector's command line: a process for each request, and over stdio a server for each too. */
export function inspector(target: Target, era: "legacy" | "modern"): ForeignClient {
  const home = mkdtempSync(join(tmpdir(), "pawl-inspector-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const main = fileURLToPath(new URL("@modelcontextprotocol/inspector/clients/launcher/build/index.js", MODULES));
  const headers =
    "url" in target && target.token !== undefined ? ["--header", `Authorization: Bearer ${target.token}`] : [];
  const where =
    "url" in target ? [target.url, ...headers] : ["--config", writeConfig(home, target), "--server", "pawl"];
  const ask = async (method: string, ...options: readonly string[]) => {
    const args = ["--cli", ...where, "--protocol-era", era, "--format", "json", "--quiet", "--method", method];
    const env = { PATH: process.env["PATH"], HOME: home };
    const { stdout } = await promisify(execFile)(process.execPath, [main, ...args, ...options], { env, cwd: home });
    return resultOf(JSON.parse(stdout) as Json);
  };
  return {
    // Strict: schemas that some model provider would not take are errors.
    listTools: async () => namesIn((await ask("tools/list", "--strict"))["tools"]),
    call: async (tool, args = {}) => {
      const options = ["--tool-name", tool, "--tool-args-json", JSON.stringify(args)];
      return structuredOf(await ask("tools/call", ...options));
    },
    read: async (uri) => textOf(await ask("resources/read", "--uri", uri)),
    listPrompts: async () => namesIn((await ask("prompts/list"))["prompts"]),
  };
}

/** The client of the SDK before this one, which most programs still have. */
export async function oldSdk(target: Target): Promise<ForeignClient> {
  const load = (path: string): Promise<OldSdk> =>
    import(new URL(`@modelcontextprotocol/sdk/dist/esm/client/${path}.js`, MODULES).href);
  const [{ Client }, { StdioClientTransport }, { StreamableHTTPClientTransport }] = await Promise.all([
    load("index"),
    load("stdio"),
    load("streamableHttp"),
  ]);
  const client = new Client({ name: "old", version: "1" });
  onTestFinished(() => client.close());
  if ("url" in target) {
    const headers = target.token === undefined ? {} : { authorization: `Bearer ${target.token}` };
    await client.connect(new StreamableHTTPClientTransport(new URL(target.url), { requestInit: { headers } }));
  } else await client.connect(new StdioClientTransport({ ...serverOf(target), stderr: "ignore" }));
  return {
    listTools: async () => namesIn((await client.listTools()).tools as unknown as Json),
    call: async (name, args = {}) => structuredOf((await client.callTool({ name, arguments: args })) as JsonObject),
    read: async (uri) => textOf((await client.readResource({ uri })) as unknown as JsonObject),
    listPrompts: async () => namesIn((await client.listPrompts()).prompts as unknown as Json),
  };
}

/** What is used of it has the same types as today's. */
type OldSdk = Pick<typeof import("@modelcontextprotocol/client"), "Client" | "StreamableHTTPClientTransport"> &
  Pick<typeof import("@modelcontextprotocol/client/stdio"), "StdioClientTransport">;

function serverOf({ app, verb }: Program) {
  const { command, env } = pawlCommand([...verb, "--app", app]);
  const [program = "", ...args] = command;
  return { command: program, args, env };
}

function writeConfig(folder: string, target: Program): string {
  const path = join(folder, "mcp.json");
  writeFileSync(path, JSON.stringify({ mcpServers: { pawl: serverOf(target) } }));
  return path;
}

function resultOf(answer: Json): JsonObject {
  const result = isJsonObject(answer) ? answer["result"] : undefined;
  if (isJsonObject(result)) return result;
  throw new Error(`No result: ${JSON.stringify(answer)}`);
}

function structuredOf(result: JsonObject): JsonObject {
  const { structuredContent, isError } = result;
  if (isError !== true && isJsonObject(structuredContent)) return structuredContent;
  throw new Error(`No structured content: ${JSON.stringify(result)}`);
}

function textOf({ contents }: JsonObject): string {
  const [first] = Array.isArray(contents) ? contents : [];
  return isJsonObject(first) ? String(first["text"]) : "";
}

function namesIn(list: Json | undefined): readonly string[] {
  return (Array.isArray(list) ? list : []).map((item: Json) => (isJsonObject(item) ? String(item["name"]) : ""));
}
