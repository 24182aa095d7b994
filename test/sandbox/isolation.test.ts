import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createSandbox } from "../../src/executors/sandbox/create-sandbox.ts";
import type { Sandbox, SandboxResult, SandboxSpec } from "../../src/executors/sandbox/sandbox.ts";
import { needs } from "../support/needs.ts";
import { noneIsLeft } from "./marked-processes.ts";
import { folderOfTools, WAYS } from "./ways.ts";

const LIMITS = { timeoutMs: 60_000, memoryBytes: 512 * 1024 * 1024, maxOutputBytes: 8 * 1024 * 1024, maxProcesses: 64 };

// With and without the help of setpriv: root hands its users out, everyone else gets a namespace.
describe.each(["bwrap", "bwrap in a user namespace"])("%s", (name) => {
  needs("bwrap");

  const open = () =>
    createSandbox({
      mode: "required",
      ...(name === "bwrap" ? {} : { searchPath: folderOfTools("bwrap", "prlimit", "env", "sh") }),
    });

  test("works on this machine", async () => {
    expect(await sh("true", {}, open())).toMatchObject({ kind: "bwrap", ending: { type: "exited", code: 0 } });
  });

  test("runs programs without rights, and not as root", async () => {
    const script = 'id -u; id -g; grep -E "^(CapEff|CapPrm|NoNewPrivs|Groups)" /proc/self/status | tr -d "\\t"';
    const [user, group, ...status] = (await sh(script, {}, open())).stdout.toString().trim().split("\n");

    expect(user).not.toBe("0");
    expect(group).toBe(user);
    expect(status.sort()).toEqual([
      "CapEff:0000000000000000",
      "CapPrm:0000000000000000",
      expect.any(String),
      "NoNewPrivs:1",
    ]);
  });

  test("shows a system that cannot be written to", async () => {
    const places = [
      "/x",
      "/usr/x",
      "/etc/x",
      "/dev/x",
      "/usr/bin/env",
      "/proc/sys/kernel/core_pattern",
      "/proc/sys/vm/swappiness",
    ];
    const script = places.map((path) => `(echo x >> ${path}) 2>/dev/null && echo ${path}`).join("\n");
    const { stdout } = await sh(`${script}\ntrue`, {}, open());

    expect(stdout.toString()).toBe("");
  });

  test("shows neither homes nor users nor other processes", async () => {
    const script = `ls -A ${homedir()} /home /root /etc/passwd /etc/shadow /etc/ssl/private 2>/dev/null; ls -d /proc/[0-9]* | wc -l`;
    const lines = (await sh(script, {}, open())).stdout.toString().trim().split("\n");

    expect(Number(lines.at(-1))).toBeLessThan(8);
    expect(lines.slice(0, -1)).toEqual([]);
  });

  test("has memory for temporary files that ends", async () => {
    const fill = (folder: string) => {
      return `for i in 1 2 3 4; do head -c 40000000 /dev/zero > ${folder}/$i; done 2>/dev/null; cat ${folder}/* | wc -c`;
    };
    const { stdout } = await sh(`${fill("/tmp")}; ${fill("/dev/shm")}`, {}, open());
    const sizes = stdout.toString().trim().split("\n").map(Number);

    for (const size of sizes) expect(size).toBeLessThanOrEqual(64 * 1024 * 1024);
    expect(sizes.length).toBe(2);
  });

  test("shows of an application what is not hidden, read-only", async () => {
    const folder = makeFolder({
      "scripts/a.txt": "seen",
      "pawl.yaml": "withheld",
      "data/pawl.db": "hidden",
      ".env": "KEY=1",
      ".pawl/pawl.db": "runs",
    });
    const script =
      "find . -type f | sort; cat scripts/a.txt; echo x > scripts/b.txt; echo x > c.txt; echo x >> scripts/a.txt";
    const visible: SandboxSpec["visible"] = [
      { kind: "entries", path: folder, without: ["pawl.yaml"] },
      { kind: "hidden", path: join(folder, "data") },
    ];
    const { stdout } = await sh(script, { cwd: folder, visible }, open());

    expect(stdout.toString()).toBe("./scripts/a.txt\nseen");
    expect(readFileSync(join(folder, "scripts/a.txt"), "utf8")).toBe("seen");
  });

  test("lays a text over a file, and puts one where there is none", async () => {
    const folder = makeFolder({ "a.txt": "old" });
    const visible: SandboxSpec["visible"] = [
      { kind: "entries", path: folder },
      { kind: "text", path: join(folder, "a.txt"), text: "new" },
      { kind: "text", path: "/nowhere/else/b.txt", text: "made" },
    ];
    const { stdout } = await sh("cat a.txt /nowhere/else/b.txt", { cwd: folder, visible }, open());

    expect(stdout.toString()).toBe("newmade");
  });

  test("has no network, and where it is asked for only the way out that there is", async () => {
    const port = await listen();
    const spec = {
      command: process.execPath,
      args: [
        "-e",
        `fetch("http://127.0.0.1:${port}").then((r) => r.text()).catch((e) => e.cause.code).then(console.log)`,
      ],
      visible: [{ kind: "path", path: process.execPath }],
      limits: LIMITS,
    } as const;
    const { runSandboxed } = open();
    const { signal } = new AbortController();
    const without = await runSandboxed(spec, signal);
    const withIt = await runSandboxed({ ...spec, network: true }, signal);

    expect(without.stdout.toString()).toBe("ECONNREFUSED\n");
    expect(withIt.stdout.toString()).toBe("ECONNREFUSED\n");
  });
});

describe.each(WAYS)("in $name", ({ kind, sandbox }) => {
  if (kind === "bwrap") needs("bwrap");

  test("nothing of our environment is seen", async () => {
    const secret = randomUUID();
    vi.stubEnv("ANTHROPIC_API_KEY", secret);
    vi.stubEnv("NODE_EXTRA_CA_CERTS", `/tmp/${secret}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    const script =
      "env | cut -d= -f1 | sort; cat /proc/1/environ /proc/$PPID/environ /proc/self/environ 2>/dev/null; true";
    const { stdout } = await sh(script, { env: { GIVEN: "yes" } }, sandbox);

    expect(stdout.toString()).not.toContain(secret);
    expect(stdout.toString().split("\n").slice(0, 6)).toEqual(["GIVEN", "HOME", "LANG", "PATH", "PWD", "TMPDIR"]);
  });

  test("what a program is given to load does not reach the programs before it", async () => {
    const { ending, stderr } = await sh("true", { env: { LD_PRELOAD: "/nowhere/evil.so" } }, sandbox);

    expect(ending).toEqual({ type: "exited", code: 0 });
    // Once: by the program itself.
    expect(stderr.toString().match(/evil[.]so/g)?.length).toBe(1);
  });

  test("input, output, errors and the result go their own ways", async () => {
    const text = "grüße 👋\n".repeat(500_000);
    const { ending, ...said } = await sh(
      "cat; echo err >&2; echo result >&3",
      { stdin: text, hasResultChannel: true },
      sandbox,
    );

    expect({ ending, kind: said.kind }).toEqual({ ending: { type: "exited", code: 0 }, kind });
    expect(said.stdout.toString() === text).toBe(true);
    expect([said.stderr.toString(), said.result.toString()]).toEqual(["err\n", "result\n"]);
  });

  test("an exit code and a signal are told apart", async () => {
    expect((await sh("exit 42", {}, sandbox)).ending).toEqual({ type: "exited", code: 42 });
    expect((await sh("kill -SEGV $$", {}, sandbox)).ending).toEqual({ type: "killed", signal: "SIGSEGV" });
  });

  test("a program that does not read its input may end", async () => {
    const { ending } = await sh("exit 0", { stdin: "x".repeat(5_000_000) }, sandbox);

    expect(ending).toEqual({ type: "exited", code: 0 });
  });

  test("a program that is not there has not been started", async () => {
    const spec = { command: "no-such-program", args: [], limits: LIMITS };
    const { ending } = await sandbox.runSandboxed(spec, new AbortController().signal);

    expect(ending).toMatchObject({ type: "notStarted", reason: expect.stringContaining("no-such-program") });
  });

  test("twenty at once do not get in each other's way", async () => {
    const numbers = Array.from({ length: 20 }, (_, index) => index);
    const results = await Promise.all(
      numbers.map((number) => sh(`sleep 0.1 & sleep 0.1 & wait; echo ${number}`, {}, sandbox)),
    );

    expect(results.map(({ stdout }) => Number(stdout.toString()))).toEqual(numbers);
  });

  test("temporary files are gone afterwards", async () => {
    const { stdout } = await sh('echo x > "$TMPDIR/mark-of-this-test"; echo "$TMPDIR"', {}, sandbox);

    expect(() => readFileSync(join(stdout.toString().trim(), "mark-of-this-test"))).toThrow("ENOENT");
  });
});

describe("without bwrap", () => {
  const tools = () => folderOfTools("setpriv", "prlimit", "env", "sh");

  test("`required` refuses to run anything", async () => {
    const { ending } = await sh("true", {}, createSandbox({ mode: "required", searchPath: tools() }));

    expect(ending).toMatchObject({ type: "refused", reason: "bwrap is not installed" });
  });

  test("`auto` runs a plain process and says so", async () => {
    const { ending, kind, warning } = await sh("true", {}, createSandbox({ mode: "auto", searchPath: tools() }));

    expect({ ending, kind }).toEqual({ ending: { type: "exited", code: 0 }, kind: "process" });
    expect(warning).toContain("bwrap is not installed");
  });

  test("`off` says nothing", async () => {
    const { kind, warning } = await sh("true", {}, createSandbox({ mode: "off" }));

    expect({ kind, warning }).toEqual({ kind: "process", warning: undefined });
  });

  test("a bwrap that cannot do its work counts as none", async () => {
    const folder = tools();
    writeFileSync(
      join(folder, "bwrap"),
      "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n",
      { mode: 0o755 },
    );
    const { ending } = await sh("true", {}, createSandbox({ mode: "required", searchPath: folder }));

    expect(ending).toMatchObject({
      type: "refused",
      reason: expect.stringMatching(/^bwrap: No permissions to create new namespace: .*(kernel|container|AppArmor)/),
    });
  });

  test("a machine without any of the tools still holds programs to time and output", async () => {
    const sandbox = createSandbox({ mode: "auto", searchPath: "/nowhere", controlGroups: false });
    const mark = randomUUID();
    const script = `sh -c "while :; do sleep 0.1; done" ${mark} & while :; do :; done`;
    const slow = await sh(script, { limits: { ...LIMITS, timeoutMs: 200 } }, sandbox);
    await noneIsLeft(mark);
    const loud = await sh("yes", {}, sandbox);

    expect(slow.ending).toEqual({ type: "timedOut" });
    expect(loud.ending).toEqual({ type: "outputTooLarge", stream: "stdout" });
  });
});

async function sh(script: string, spec: Partial<SandboxSpec>, sandbox: Sandbox): Promise<SandboxResult> {
  const whole: SandboxSpec = { command: "sh", args: ["-c", script], limits: LIMITS, ...spec };
  return sandbox.runSandboxed(whole, new AbortController().signal);
}

/** As `mkdtemp` makes it: for its owner only. */
function makeFolder(files: Readonly<Record<string, string>>): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "app-")));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

async function listen(): Promise<number> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.end("HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello");
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}
