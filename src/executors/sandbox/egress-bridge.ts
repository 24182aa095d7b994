import { realpathSync } from "node:fs";
import type { SandboxLimits, Visible } from "./sandbox.ts";

/**
 * The way out of a network namespace that has only a loopback of its own. A proxy outside listens on a file, which lies in
 * the sandbox; the bridge offers it as a port, since programs know proxies by host and port. It starts the program and
 * ends as that ends. It is no wall: the program could ask the file itself, or end the bridge, and gain nothing.
 */
const BRIDGE = String.raw`
"use strict";
const { connect, createServer } = require("node:net");
const { spawn } = require("node:child_process");
const [socket, port, channels, command, ...args] = process.argv.slice(1);
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => undefined);
const server = createServer({ allowHalfOpen: true }, (client) => {
  const out = connect({ path: socket, allowHalfOpen: true });
  client.on("error", () => out.destroy()).on("close", () => out.destroy()).pipe(out);
  out.on("error", () => client.destroy()).on("close", () => client.destroy()).pipe(client);
});
server.listen(Number(port), "127.0.0.1", () => {
  const child = spawn(command, args, { stdio: [0, 1, 2, 3].slice(0, Number(channels)) });
  child.on("error", (error) => {
    process.stderr.write("bridge: " + error.message + "\n");
    process.exit(127);
  });
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
});
`;

const SOCKET_INSIDE = "/run/pawl/egress";
const PORT = 3128;

/** The bridge is a Node of its own, which the program's limits do not pay for. */
const MEMORY_OF_BRIDGE_BYTES = 128 * 1024 * 1024;
const THREADS_OF_BRIDGE = 20;

export interface Bridge {
  /** Goes before the program. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly visible: readonly Visible[];
}

/** `socketPath`: where the proxy listens. `channels`: how many of the first file descriptors the program has. */
export function toBridge(socketPath: string, channels: number): Bridge {
  const node = realpathSync(process.execPath);
  const address = `http://127.0.0.1:${PORT}`;
  const proxies = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].flatMap((name) => [name, name.toLowerCase()]);
  return {
    command: [node, "-e", BRIDGE, "--", SOCKET_INSIDE, String(PORT), String(channels)],
    env: {
      ...Object.fromEntries(proxies.map((name) => [name, address])),
      // No exception for loopback: one of the machine may be allowed. Node asks a proxy only where it is told to.
      NODE_USE_ENV_PROXY: "1",
    },
    visible: [
      { kind: "path", path: node },
      { kind: "socket", path: SOCKET_INSIDE, from: socketPath },
      { kind: "text", path: "/etc/hosts", text: "127.0.0.1 localhost\n::1 localhost\n" },
    ],
  };
}

export function withBridge(limits: SandboxLimits): SandboxLimits {
  return {
    ...limits,
    memoryBytes: limits.memoryBytes + MEMORY_OF_BRIDGE_BYTES,
    maxProcesses: limits.maxProcesses + THREADS_OF_BRIDGE,
  };
}
