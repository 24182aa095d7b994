import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { Client, StreamableHTTPClientTransport, type VersionNegotiationOptions } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test } from "vitest";
import { readListening } from "../mcp-terminal/terminal-client.ts";
import { application } from "../support/application.ts";
import { pawlCommand } from "../support/pawl.ts";

const ERAS = [
  ["2025", { mode: "legacy" }],
  ["2026", { mode: { pin: "2026-07-28" } }],
] as const;

for (const [era, negotiation] of ERAS) {
  test(`a client of ${era} lists the tools with all that it should know, and calls them`, async () => {
    const folder = application({ "workflows/a.yaml": "startAt: a\n" });
    const client = await connect(folder, negotiation);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain("core.state.getDefinitionFileContent");
    for (const { title, description, annotations, outputSchema } of tools) {
      expect([title, description, outputSchema?.type]).toEqual([expect.any(String), expect.any(String), "object"]);
      expect(annotations).toEqual({
        readOnlyHint: expect.any(Boolean),
        destructiveHint: expect.any(Boolean),
        idempotentHint: expect.any(Boolean),
        openWorldHint: expect.any(Boolean),
      });
    }
    const read = await client.callTool({
      name: "core.state.getDefinitionFileContent",
      arguments: { file_path: "workflows/a.yaml" },
    });
    expect(read.structuredContent).toMatchObject({ content: "startAt: a\n" });
    expect(read.content).toEqual([{ type: "text", text: JSON.stringify(read.structuredContent) }]);
    await client.callTool({
      name: "core.state.setDefinitionFileContent",
      arguments: { file_path: "b.yaml", content: "b" },
    });
    expect(readFileSync(join(folder, "b.yaml"), "utf8")).toBe("b");
  });
}

test("a client of the SDK before this one gets along", async () => {
  const { Client: OldClient, StdioClientTransport: OldTransport } = await loadOldSdk();
  const { command, env } = pawlCommand(["mcp", "core"]);
  const [program = "", ...args] = command;
  const client = new OldClient({ name: "test", version: "1" });
  onTestFinished(() => client.close());
  await client.connect(new OldTransport({ command: program, args, env, cwd: application({}), stderr: "ignore" }));
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("core.state.setRuntimeValue");
  const set = await client.callTool({ name: "core.state.setRuntimeValue", arguments: { key: "k", value: 1 } });
  expect(set.structuredContent).toEqual({ success: true });
});

test("an error is a result that says what to do, and a name that nobody has is refused", async () => {
  const client = await connect(application({}), { mode: "auto" });
  const refused = await client.callTool({
    name: "core.state.getDefinitionFileContent",
    arguments: { file_path: "../x" },
  });
  expect(refused).toMatchObject({
    isError: true,
    content: [{ type: "text", text: expect.stringMatching(/^FILE_PATH_INVALID: .*Use a relative path/) }],
  });
  const misfit = await client.callTool({ name: "core.state.getRuntimeValue", arguments: { kei: "k" } });
  expect(misfit).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("key") }] });
  const command = await client.callTool({ name: "core.linux.executeCommand", arguments: { command: "true" } });
  expect(command).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("mcp.allow_commands") }] });
  await expect(client.callTool({ name: "core.nothing", arguments: {} })).rejects.toThrow("core.nothing");
});

test("values outlast the server, and other programs' names are understood", async () => {
  const folder = application({});
  const first = await connect(folder, { mode: "legacy" });
  await first.callTool({ name: "core_state_setRuntimeValue", arguments: { key: "k", value: [1] } });
  await first.close();
  const second = await connect(folder, { mode: "legacy" }, ["--plain-names"]);
  const { tools } = await second.listTools();
  expect(tools.map(({ name }) => name).filter((name) => !/^[A-Za-z0-9_-]+$/.test(name))).toEqual([]);
  const read = await second.callTool({ name: "core_state_getRuntimeValue", arguments: { key: "k" } });
  expect(read.structuredContent).toEqual({ value: [1], found: true });
});

test("a message to the log goes to stderr, never into the protocol", async () => {
  const { command, env } = pawlCommand(["mcp", "core"]);
  const [program = "", ...args] = command;
  const transport = new StdioClientTransport({ command: program, args, env, cwd: application({}), stderr: "pipe" });
  const client = new Client({ name: "test", version: "1" });
  onTestFinished(() => client.close());
  const said = transport.stderr === null ? Promise.resolve([]) : once(transport.stderr, "data");
  await client.connect(transport);
  await client.callTool({ name: "core.framework.logFrameworkMessage", arguments: { message: "hello" } });
  expect(String(await said)).toContain('"message":"hello"');
});

test("the server ends when its stdin does, and at a signal", async () => {
  for (const end of [
    (child: ReturnType<typeof start>) => child.stdin.end(),
    (child: ReturnType<typeof start>) => child.kill("SIGTERM"),
  ]) {
    const child = start(application({}));
    const opening = { jsonrpc: "2.0", id: 1, method: "initialize", params: INITIALIZE };
    child.stdin.write(`${JSON.stringify(opening)}\n`);
    await once(child.stdout, "data");
    end(child);
    expect(await once(child, "exit")).toEqual([0, null]);
  }
});

test("a message without an end is refused, and not kept", async () => {
  const child = start(application({}));
  const [said, ended] = [text(child.stderr), once(child, "exit")];
  child.stdin.on("error", () => undefined);
  child.stdin.write("a".repeat(24 * 1024 * 1024));
  await ended;
  expect(await said).toContain("exceeded maximum size");
});

test("over HTTP the tools are there for both eras, and for nobody who comes by another name", async () => {
  const child = start(application({}), ["--http"]);
  const [said] = (await once(child.stderr, "data")) as [Buffer];
  const { url, token } = readListening(String(said));
  const headers = { authorization: `Bearer ${token}` };
  for (const [, negotiation] of ERAS) {
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: negotiation });
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
    const set = await client.callTool({ name: "core.state.setRuntimeValue", arguments: { key: "k", value: 1 } });
    expect(set.structuredContent).toEqual({ success: true });
    await client.close();
  }
  const post = (headers: Readonly<Record<string, string>>) =>
    fetch(url, { method: "POST", headers: { "content-type": "application/json", ...headers }, body: "{}" });
  expect((await post({ origin: "https://evil.example" })).status).toBe(403);
  expect((await post({ origin: "http://localhost:3000" })).status).toBe(403);
  expect((await post({})).status).toBe(401);
  expect((await fetch(new URL("/other", url), { headers })).status).toBe(404);
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});

const INITIALIZE = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } };

type OldSdk = Pick<typeof import("@modelcontextprotocol/client"), "Client"> &
  Pick<typeof import("@modelcontextprotocol/client/stdio"), "StdioClientTransport">;

/** The reference server brings it along. What is used of it has the same types as today's. */
async function loadOldSdk(): Promise<OldSdk> {
  const { resolve } = createRequire(import.meta.resolve("@modelcontextprotocol/server-everything/package.json"));
  const load = (path: string) => import(pathToFileURL(resolve(`@modelcontextprotocol/sdk/client/${path}.js`)).href);
  return { ...(await load("index")), ...(await load("stdio")) } as OldSdk;
}

async function connect(
  folder: string,
  versionNegotiation: VersionNegotiationOptions,
  options: readonly string[] = [],
): Promise<Client> {
  const { command, env } = pawlCommand(["mcp", "core", ...options]);
  const [program = "", ...args] = command;
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation });
  onTestFinished(() => client.close());
  await client.connect(new StdioClientTransport({ command: program, args, env, cwd: folder, stderr: "ignore" }));
  return client;
}

function start(folder: string, options: readonly string[] = []) {
  const { command, env } = pawlCommand(["mcp", "core", ...options]);
  const [program = "", ...args] = command;
  const child = spawn(program, args, { cwd: folder, env, stdio: ["pipe", "pipe", "pipe"] });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  return child;
}
