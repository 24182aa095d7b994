import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createSocketServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openEgressProxy } from "../../src/executors/outbound/egress-proxy.ts";
import { createSandbox } from "../../src/executors/sandbox/create-sandbox.ts";
import type { Sandbox } from "../../src/executors/sandbox/sandbox.ts";
import { needs } from "../support/needs.ts";
import { folderOfTools } from "./ways.ts";

needs("bwrap", "curl", "python3");

const LIMITS = { timeoutMs: 60_000, memoryBytes: 512 * 1024 * 1024, maxOutputBytes: 8 * 1024 * 1024, maxProcesses: 64 };

// With and without the help of setpriv: root hands its users out, everyone else gets a namespace.
describe.each(["bwrap", "bwrap in a user namespace"])("%s", (name) => {
  const searchPath = () => (name === "bwrap" ? {} : { searchPath: folderOfTools("bwrap", "prlimit", "env", "sh") });
  const open = (allow: readonly string[], names: Readonly<Record<string, readonly string[]>> = {}) =>
    createSandbox({
      mode: "required",
      ...searchPath(),
      egress: {
        async open(folder) {
          const resolve = toResolver(names);
          const proxy = await openEgressProxy({
            allow,
            folder,
            ...(Object.keys(names).length === 0 ? {} : { resolve }),
          });
          onTestFinished(() => proxy.close());
          return proxy.socketPath;
        },
      },
    });

  test("curl, Python and Node reach what is allowed, through the proxy", async () => {
    const url = await serve();
    const sandbox = open([new URL(url).host]);
    const python = `import urllib.request; print(urllib.request.urlopen("${url}").read().decode())`;
    const node = `fetch("${url}").then((r) => r.text()).then(console.log)`;

    expect(await sh(`curl -sS ${url}`, sandbox)).toBe("hello");
    expect(await sh(`/usr/bin/python3 -c '${python}'`, sandbox)).toBe("hello");
    expect(await sh(`'${process.execPath}' -e '${node}'`, sandbox)).toBe("hello");
    // A tunnel, as https needs it.
    expect(await sh(`curl -sS --proxytunnel ${url}`, sandbox)).toBe("hello");
  });

  test("a body is passed on, and the answer's status and headers", async () => {
    const url = await serve();
    const sandbox = open([new URL(url).host]);
    const printed = await sh(`head -c 300000 /dev/zero | curl -sS -i --data-binary @- ${url}/size`, sandbox);

    expect(printed).toMatch(/^HTTP\/1.1 201 [\s\S]*x-own: yes[\s\S]*300000$/i);
  });

  test("no spelling of loopback is reached, with or without the proxy", async () => {
    const { port } = new URL(await serve());
    const spellings = [
      "127.0.0.1",
      "localhost",
      "127.1",
      "2130706433",
      "0x7f.1",
      "0",
      "0.0.0.0",
      "[::1]",
      "[::ffff:127.0.0.1]",
      "[::]",
      "127.0.0.2",
      "localhost.",
    ];
    const asked = spellings.flatMap((host) =>
      ["", "-p", "--noproxy '*'"].map((way) => `curl -sS -m 5 ${way} 'http://${host}:${port}/' 2>/dev/null`),
    );

    expect(await sh(`export no_proxy= NO_PROXY=; ${asked.join("; ")}; true`, open([]))).not.toMatch(/hello/);
  });

  test("neither metadata nor private networks are reached, nor names that lead there", async () => {
    const names = { "rebound.example": ["169.254.169.254"], "mixed.example": ["93.184.216.34", "10.0.0.1"] };
    const hosts = [
      "169.254.169.254",
      "10.0.0.1",
      "192.168.1.1",
      "172.16.0.1",
      "100.64.0.1",
      "metadata.google.internal",
      ...Object.keys(names),
    ];
    const sandbox = open([], { ...names, "metadata.google.internal": ["169.254.169.254"] });
    const codes = await sh(
      hosts.map((host) => `curl -s -o /dev/null -w '%{http_code} ' -m 5 http://${host}/`).join("; "),
      sandbox,
    );
    const tunnels = await sh(
      `${hosts.map((host) => `curl -s -o /dev/null -w '%{http_connect} ' -m 5 https://${host}/`).join("; ")}; true`,
      sandbox,
    );

    expect(codes.trim().split(" ")).toEqual(hosts.map(() => "403"));
    expect(tunnels.trim().split(" ")).toEqual(hosts.map(() => "403"));
  });

  test("a name is resolved once: what it says a moment later is not asked", async () => {
    const url = new URL(await serve());
    let asked = 0;
    const sandbox = createSandbox({
      mode: "required",
      ...searchPath(),
      egress: {
        async open(folder) {
          const resolve = async () => {
            asked += 1;
            return [{ address: asked === 1 ? "192.0.2.1" : "127.0.0.1", family: 4 }];
          };
          return (await openEgressProxy({ allow: ["192.0.2.0/24"], folder, resolve })).socketPath;
        },
      },
    });
    expect(await sh(`curl -s -m 2 http://rebinding.example:${url.port}/; true`, sandbox)).not.toMatch(/hello/);
    expect(asked).toBe(1);
  });

  test("a socket of the host is neither found by its name nor by its path", async () => {
    const folder = mkdtempSync(join(tmpdir(), "owner-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const server = createSocketServer((socket) => socket.end("hello"));
    onTestFinished(() => void server.close());
    const abstract = `pawl-${randomUUID()}`;
    const second = createSocketServer((socket) => socket.end("hello"));
    onTestFinished(() => void second.close());
    await Promise.all([
      once(server.listen(join(folder, "s")), "listening"),
      once(second.listen(`\0${abstract}`), "listening"),
    ]);
    const script = `
import socket
for path in ["${folder}/s", "\\0${abstract}"]:
    try:
        s = socket.socket(socket.AF_UNIX); s.connect(path); print(s.recv(9).decode())
    except OSError as error: print("refused")
`;
    expect(await sh(`/usr/bin/python3 -c '${script}'`, open([]))).toBe("refused\nrefused");
  });

  test("a refusal says what allows it", async () => {
    expect(await sh("curl -sS http://10.0.0.1/", open([]))).toMatch(/10\.0\.0\.1.*`outbound\.allow`/);
  });

  test("an exit code, a signal and the limit of addresses come through the bridge", async () => {
    const run = (command: string, args: readonly string[], addressSpaceBytes?: number) =>
      open([]).runSandboxed(
        { command, args, network: true, limits: { ...LIMITS, addressSpaceBytes } },
        new AbortController().signal,
      );
    const greedy = "x = bytearray(3 * 1024 ** 3)";

    expect((await run("sh", ["-c", "exit 42"])).ending).toEqual({ type: "exited", code: 42 });
    expect((await run("sh", ["-c", "kill -SEGV $$"])).ending).toEqual({ type: "killed", signal: "SIGSEGV" });
    expect((await run("no-such-program", [])).ending).toMatchObject({ type: "notStarted" });
    expect((await run("/usr/bin/python3", ["-c", greedy], 1024 ** 3)).stderr.toString()).toMatch(/MemoryError/);
  });
});

async function sh(script: string, sandbox: Sandbox): Promise<string> {
  const visible = [{ kind: "path", path: process.execPath }] as const;
  const spec = { command: "sh", args: ["-c", script], visible, network: true, limits: LIMITS };
  const { stdout, stderr, ending } = await sandbox.runSandboxed(spec, new AbortController().signal);
  expect(ending, stderr.toString()).toEqual({ type: "exited", code: 0 });
  return stdout.toString().trim();
}

async function serve(): Promise<string> {
  const server = createServer(async (asked, answer) => {
    let size = 0;
    for await (const chunk of asked) size += (chunk as Buffer).length;
    if (asked.url === "/size") answer.writeHead(201, { "x-own": "yes" }).end(String(size));
    else answer.end("hello");
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function toResolver(names: Readonly<Record<string, readonly string[]>>) {
  return async (host: string) => (names[host] ?? []).map((address) => ({ address, family: 4 }));
}
