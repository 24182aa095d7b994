/**
 * An MCP server on the official SDK with faults to order: `node main.ts [--http] [FAULT...]`, where a fault is
 * `die-at-start`, `slow-start`, `silent`, `noisy`, `ignore-sigterm`, `die-at-discover`, `pid-file=PATH`, `tools=NAME,NAME` (these, which
 * do nothing, in place of its own), `instructions=TEXT` or `token=SECRET` (HTTP).
 */
import { writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";
import { Server } from "@modelcontextprotocol/server";
import { makePeerExact } from "../../support/exact-peer.ts";
import { FAULTY_TOOLS } from "./faulty-tools.ts";

makePeerExact();
const faults = new Set(process.argv.slice(2));
const token = settingOf("token=");
const pidFile = settingOf("pid-file=");
const idleTools = settingOf("tools=")?.split(",");

if (pidFile !== undefined) writeFileSync(pidFile, String(process.pid));
process.stderr.write("The fake server starts.\n");
if (faults.has("die-at-start")) process.exit(3);
if (faults.has("ignore-sigterm")) {
  process.on("SIGTERM", () => undefined);
  setInterval(() => undefined, 1_000);
}
if (faults.has("slow-start")) await setTimeout(1_000);
if (faults.has("noisy")) {
  process.stdout.write("Listening on nothing at all\n{broken\n");
  process.stderr.write("noise ".repeat(100_000));
}
if (faults.has("die-at-discover")) {
  process.stdin.on("data", (chunk: Buffer) => {
    if (chunk.includes("server/discover")) process.exit(4);
  });
}

if (faults.has("silent")) process.stdin.resume();
else if (faults.has("--http")) await listen();
// What is not needed is not loaded: tests start very many of these.
else (await import("@modelcontextprotocol/server/stdio")).serveStdio(createFake);

function settingOf(fault: string): string | undefined {
  return [...faults].find((candidate) => candidate.startsWith(fault))?.slice(fault.length);
}

function createFake(): Server {
  const instructions = settingOf("instructions=");
  const server = new Server(
    { name: "fake", version: "1.0.0" },
    { capabilities: { tools: { listChanged: true } }, ...(instructions === undefined ? {} : { instructions }) },
  );
  const toIdle = (name: string) => ({ name, inputSchema: { type: "object" } }) as const;
  const grown: string[] = [];
  server.setRequestHandler("tools/list", () => ({
    tools: [
      ...(idleTools?.map(toIdle) ??
        Object.entries(FAULTY_TOOLS).map(([name, { definition }]) => ({ name, ...definition }))),
      ...(idleTools === undefined ? ["grow", ...grown] : []).map(toIdle),
    ],
  }));
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    if (params.name === "grow") {
      grown.push("grown");
      await server.sendToolListChanged();
      return { content: [{ type: "text", text: "grown" }] };
    }
    const tool = FAULTY_TOOLS[params.name];
    if (tool === undefined) throw new Error(`There is no ${params.name}.`);
    return await tool.run(params.arguments ?? {}, context);
  });
  return server;
}

/** Says on stdout where it listens. */
async function listen(): Promise<void> {
  const [{ toNodeHandler }, { createMcpHandler }] = await Promise.all([
    import("@modelcontextprotocol/node"),
    import("@modelcontextprotocol/server"),
  ]);
  const handle = toNodeHandler(createMcpHandler(createFake));
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = "GET", url = "/", headers } = request;
    await handle(Object.assign(request, { method, url, headers }), response);
  };
  const http = createServer((request, response) => {
    if (token !== undefined && request.headers.authorization !== `Bearer ${token}`) {
      response.writeHead(401).end();
      return;
    }
    answer(request, response).catch(() => response.destroy());
  });
  http.listen(0, "127.0.0.1", () => {
    process.stdout.write(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp\n`);
  });
}
