import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { COMPILE_CACHE } from "../compile-cache.ts";

const FAKE = fileURLToPath(new URL("main.ts", import.meta.url));
const OLD = fileURLToPath(new URL("old_server.py", import.meta.url));
const EVERYTHING = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"));
/** It does not say which port it was given. */
const TELL_PORT = `
import net from "node:net";
const { listen } = net.Server.prototype;
net.Server.prototype.listen = function (...args) {
  this.once("listening", () => process.stdout.write("http://127.0.0.1:" + this.address().port + "/mcp\\n"));
  return listen.apply(this, args);
};`;

export interface HttpServerProcess {
  readonly url: string;
  kill(): Promise<void>;
}

/** Our own server with faults. */
export function startFakeHttp(faults: readonly string[] = []): Promise<HttpServerProcess> {
  return start([FAKE, "--http", ...faults], {});
}

/** The one in Python, which answers with anything. */
export function startOldHttp(faults: readonly string[] = []): Promise<HttpServerProcess> {
  return start([OLD, "--http", ...faults], {}, "python3");
}

/** The reference server, with sessions; at a given port, or one that the system chooses. */
export function startEverythingHttp(port = "0"): Promise<HttpServerProcess> {
  const patch = `data:text/javascript,${encodeURIComponent(TELL_PORT)}`;
  return start(["--import", patch, EVERYTHING, "streamableHttp"], { PORT: port });
}

async function start(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  program = process.execPath,
): Promise<HttpServerProcess> {
  const child = spawn(program, args, {
    env: { ...process.env, ...COMPILE_CACHE, ...env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => end(child));
  return { url: await readUrl(child.stdout), kill: () => end(child) };
}

async function readUrl(stdout: Readable): Promise<string> {
  let said = "";
  for (;;) {
    const [url] = /http:\S+(?=\n)/.exec(said) ?? [];
    if (url !== undefined) return url;
    const [chunk] = (await once(stdout, "data")) as [Buffer];
    said += chunk.toString("utf8");
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}
