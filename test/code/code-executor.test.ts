import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { createSandbox } from "../../src/executors/sandbox/create-sandbox.ts";
import { findMarked, noneIsLeft, waitUntil } from "../sandbox/marked-processes.ts";
import { folderOfTools } from "../sandbox/ways.ts";
import { needs } from "../support/needs.ts";
import { callCode, createExecutor, makeApplication, outputOf } from "./application.ts";

const ECHO = "def check(input):\n    return input\n";

describe.each(["required", "off"] as const)("with the sandbox %s", (mode) => {
  if (mode === "required") needs("bwrap");

  // It looks once at what this machine can do, with programs of its own.
  const sandbox = createSandbox({ mode });
  const executor = createExecutor(sandbox);

  test("five megabytes go in and come out, whatever the language", async () => {
    const large = { text: "grüße 👋 ".repeat(400_000), list: Array.from({ length: 1_000 }, (_, index) => index) };
    const folder = makeApplication({
      "a.py": ECHO,
      "b.mjs": "export const check = (input) => input;",
      "c.py": "import json, sys\njson.dump(json.load(sys.stdin), sys.stdout, ensure_ascii=False)\n",
    });
    for (const [language, script] of [
      ["javascript", "b.mjs"],
      ["python", "c.py"],
    ] as const) {
      const called = await callCode(
        executor,
        { language, script, function: "check", input: large },
        { settings: { folder } },
      );
      expect(JSON.stringify(outputOf(called)) === JSON.stringify(large)).toBe(true);
    }
    const ascii = "x".repeat(5_000_000);
    const called = await callCode(
      executor,
      { language: "python", script: "a.py", function: "check", input: ascii },
      { settings: { folder } },
    );
    expect(outputOf(called) === ascii).toBe(true);
  });

  test("twenty calls at once", async () => {
    const folder = makeApplication({ "a.py": ECHO, "b.mjs": "export const check = (input) => input;" });
    const outputs = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const language =
          index % 2 === 0 ? { language: "python", script: "a.py" } : { language: "javascript", script: "b.mjs" };
        return outputOf(
          await callCode(executor, { ...language, function: "check", input: index }, { settings: { folder } }),
        );
      }),
    );

    expect(outputs).toEqual(Array.from({ length: 20 }, (_, index) => index));
  });

  test("a script knows the key that makes its effect once, its run and its step", async () => {
    const script =
      "import os\ndef check(input): return {k: v for k, v in os.environ.items() if k.startswith('PAWL_')}\n";
    const folder = makeApplication({ "a.py": script });
    const called = await callCode(
      executor,
      { language: "python", script: "a.py", function: "check" },
      { settings: { folder } },
    );

    expect(outputOf(called)).toEqual({ PAWL_IDEMPOTENCY_KEY: "key-1", PAWL_RUN_ID: "run-1", PAWL_STEP: "check[2]" });
  });

  test.each<[string, string, string, JsonObject, JsonObject]>([
    [
      "memory",
      "python",
      "x = []\ndef check(input):\n    while True: x.append('x' * 1000000)\n",
      {},
      { code: "CODE_OUT_OF_MEMORY" },
    ],
    [
      "one huge allocation",
      "python",
      "def check(input): return len('x' * 10**11)\n",
      {},
      { code: "CODE_OUT_OF_MEMORY" },
    ],
    [
      "memory",
      "javascript",
      "const x = []; export function check() { for (;;) x.push({ a: [1, 2, 3] }); }",
      {},
      { code: "CODE_OUT_OF_MEMORY" },
    ],
    [
      "buffers",
      "javascript",
      "const x = []; export function check() { for (;;) x.push(Buffer.alloc(1e7, 1)); }",
      {},
      { code: "CODE_OUT_OF_MEMORY" },
    ],
    [
      "processes",
      "python",
      "import os\ndef check(input):\n    while True:\n        try: os.fork()\n        except OSError: pass\n",
      {},
      { code: "CODE_TOO_MANY_PROCESSES" },
    ],
    [
      "a process too many",
      "python",
      "import os, time\ndef check(input):\n    while os.fork() or True: pass\n",
      {},
      { code: "CODE_TOO_MANY_PROCESSES" },
    ],
    [
      "threads",
      "python",
      "import threading, time\ndef check(input):\n    while True: threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n",
      {},
      { code: "CODE_TOO_MANY_PROCESSES" },
    ],
    [
      "printing",
      "python",
      "def check(input):\n    while True: print('x' * 10000)\n",
      {},
      { code: "CODE_OUTPUT_TOO_LARGE" },
    ],
    [
      "its result",
      "python",
      "def check(input): return 'x' * 3000000\n",
      { maxOutputBytes: 1_000_000 },
      { code: "CODE_OUTPUT_TOO_LARGE" },
    ],
    [
      "printing",
      "javascript",
      "import fs from 'node:fs'; export function check() { for (;;) fs.writeSync(2, 'x'.repeat(10000)); }",
      {},
      { code: "CODE_OUTPUT_TOO_LARGE" },
    ],
  ])("too much of %s in %s ends the script", async (_, language, text, limits, failure) => {
    const script = language === "python" ? "a.py" : "a.mjs";
    const folder = makeApplication({ [script]: text });
    const executor = createExecutor(sandbox, { memoryBytes: 200 * 1024 * 1024, maxProcesses: 16 });
    const input = { language, script, function: "check", limits: { memoryBytes: 2 ** 40, ...limits } };
    const { outcome } = await callCode(executor, input, { settings: { folder } });

    expect(outcome).toMatchObject({ status: "failed", effect: "unknown", costMicro: 0, ...failure });
  });

  test("a script that does not end is ended at the configured time-out", async () => {
    const folder = makeApplication({ "a.py": "import time\ndef check(input): time.sleep(1000)\n" });
    const executor = createExecutor(sandbox, { timeoutMs: 700 });
    const { outcome } = await callCode(
      executor,
      { language: "python", script: "a.py", function: "check" },
      { settings: { folder } },
    );

    expect(outcome).toMatchObject({ code: "TIMEOUT", message: "a.py took longer than 0.7 s.", effect: "unknown" });
  });

  test("a step's own time-out goes before the configured one", async () => {
    const folder = makeApplication({ "a.py": "import time\ndef check(input):\n    time.sleep(0.6)\n    return 1\n" });
    const executor = createExecutor(sandbox, { timeoutMs: 300 });
    const called = await callCode(
      executor,
      { language: "python", script: "a.py", function: "check" },
      { settings: { folder }, timeoutMs: 30_000 },
    );

    expect(outputOf(called)).toBe(1);
  });

  test("an abort ends a script and its children", async () => {
    const mark = `mark-${process.pid}-${mode}`;
    const text = `import subprocess\ndef check(input): subprocess.run(["sh", "-c", "trap '' TERM; while :; do sleep 0.1; done", "${mark}"])\n`;
    const folder = makeApplication({ "a.py": text });
    const controller = new AbortController();
    const input = { language: "python", script: "a.py", function: "check" };
    const running = callCode(executor, input, { settings: { folder }, signal: controller.signal });
    await waitUntil("the child runs", () => findMarked(mark).length > 0);
    controller.abort();

    expect((await running).outcome).toMatchObject({ code: "INTERRUPTED", effect: "unknown", retryable: true });
    await noneIsLeft(mark);
  });

  test("a script that is killed from outside has not failed, and one that brings it upon itself has", async () => {
    const folder = makeApplication({ "die.sh.py": "import os, sys\nos.kill(os.getpid(), int(sys.stdin.read()))\n" });
    const dieOf = async (signal: number) => {
      const { outcome } = await callCode(
        executor,
        { language: "python", script: "die.sh.py", input: signal },
        { settings: { folder } },
      );
      return outcome;
    };
    expect(await dieOf(9)).toMatchObject({ code: "CODE_FAILED", effect: "unknown", workerDied: true });
    expect(await dieOf(11)).not.toHaveProperty("workerDied");
  });

  test("a step that is stopped before it has begun has had no effect", async () => {
    const folder = makeApplication({ "a.py": ECHO });
    const input = { language: "python", script: "a.py", function: "check" };
    const { outcome } = await callCode(executor, input, {
      settings: { folder },
      signal: AbortSignal.abort(),
    });

    expect(outcome).toMatchObject({ code: "INTERRUPTED", effect: "none" });
  });

  test("usage tells the time, the memory and the sandbox", async () => {
    const folder = makeApplication({ "a.py": ECHO });
    const { outcome } = await callCode(
      executor,
      { language: "python", script: "a.py", function: "check" },
      { settings: { folder } },
    );

    expect(outcome.usage).toMatchObject({
      duration_ms: expect.any(Number),
      sandbox: mode === "off" ? "process" : "bwrap",
    });
  });

  describe("a pinned script", () => {
    const pinned = (text: string) => ({ "scripts/a.py": text, "scripts/a.mjs": text });

    test.each([
      ["python", "scripts/a.py", "import helpers, top\ndef check(input): return ['pinned', helpers.x, top.y]\n"],
      [
        "python",
        "scripts/a.py",
        "import helpers, top, json, sys\njson.load(sys.stdin)\nprint(json.dumps(['pinned', helpers.x, top.y]))\n",
      ],
      [
        "javascript",
        "scripts/a.mjs",
        "import { x } from './helpers.mjs';\nimport { y } from '../top.mjs';\nexport const check = () => ['pinned', x, y];\n",
      ],
    ])("in %s runs as pinned, among its neighbours (%s)", async (language, script, text) => {
      const neighbours = {
        "scripts/helpers.py": "x = 1\n",
        "top.py": "y = 2\n",
        "scripts/helpers.mjs": "export const x = 1;\n",
        "top.mjs": "export const y = 2;\n",
      };
      const changed = makeApplication({ ...neighbours, "scripts/a.py": "raise 1", "scripts/a.mjs": "throw 1" });
      const gone = makeApplication(neighbours);
      for (const folder of [changed, gone]) {
        const called = await callCode(
          executor,
          { language, script, function: "check" },
          { settings: { folder, scripts: pinned(text) } },
        );
        expect(outputOf(called)).toEqual(["pinned", 1, 2]);
      }
    });

    test("needs no folder", async () => {
      const scripts = {
        "scripts/a.py": "import b\ndef check(input): return b.x\n",
        "scripts/b.py": "x = 5\n",
        "../../evil.py": "x",
      };
      const called = await callCode(
        executor,
        { language: "python", script: "scripts/a.py", function: "check" },
        { settings: { scripts } },
      );

      expect(outputOf(called)).toBe(5);
    });

    test("is named in errors as if it lay in the application", async () => {
      const folder = makeApplication({ "scripts/a.py": "old" });
      const settings = { folder, scripts: pinned("def check(input):\n    raise ValueError(__file__)\n") };
      const { outcome } = await callCode(
        executor,
        { language: "python", script: "scripts/a.py", function: "check" },
        { settings },
      );

      expect(outcome).toMatchObject({ details: { traceback: expect.stringContaining(join(folder, "scripts/a.py")) } });
      expect(JSON.stringify(outcome)).not.toContain("pawl-script-");
    });
  });

  test.each(["/etc/passwd", "../a.py", "scripts/../../a.py", "", "a\0.py", "C:\\a.py", "out.py", "out/a.py"])(
    "the script %j lies outside",
    async (script) => {
      const elsewhere = makeApplication({ "a.py": ECHO });
      const folder = makeApplication({ "scripts/a.py": ECHO });
      symlinkSync(join(elsewhere, "a.py"), join(folder, "out.py"));
      symlinkSync(elsewhere, join(folder, "out"));
      const { outcome } = await callCode(
        executor,
        { language: "python", script, function: "check" },
        { settings: { folder } },
      );

      expect(outcome).toMatchObject({ code: "SCRIPT_OUTSIDE", effect: "none" });
    },
  );

  test("a script that does not exist is missing", async () => {
    const settings = { folder: makeApplication({}) };
    const { outcome } = await callCode(
      executor,
      { language: "python", script: "a.py", function: "check" },
      { settings },
    );

    expect(outcome).toMatchObject({ code: "SCRIPT_MISSING", effect: "none" });
  });

  test("a link inside the folder may be followed", async () => {
    const folder = makeApplication({ "real/a.py": "import b\ndef check(input): return b.x\n", "real/b.py": "x = 1\n" });
    symlinkSync("real/a.py", join(folder, "a.py"));
    const called = await callCode(
      executor,
      { language: "python", script: "a.py", function: "check" },
      { settings: { folder } },
    );

    expect(outputOf(called)).toBe(1);
  });

  test("packages of a venv and of a node_modules folder can be imported", async () => {
    const { python, nodeModules } = makePackages();
    const executor = createExecutor(sandbox, { python, nodeModules });
    const folder = makeApplication({
      "a.py": "import shop_package\ndef check(input): return shop_package.name\n",
      "b.mjs": "import { name } from 'shop-package';\nexport const check = () => name;\n",
      "c.cjs": "const { name } = require('shop-package');\nexports.check = () => name;\n",
      "d.mjs": "import { name } from 'shop-package';\nprocess.stdin.resume();\nconsole.log(JSON.stringify(name));\n",
    });
    const outputs: Json[] = [];
    for (const [language, script] of [
      ["python", "a.py"],
      ["javascript", "b.mjs"],
      ["javascript", "c.cjs"],
      ["javascript", "d.mjs"],
    ] as const) {
      outputs.push(
        outputOf(await callCode(executor, { language, script, function: "check" }, { settings: { folder } })),
      );
    }

    expect(outputs).toEqual(["from the venv", "from node_modules", "from node_modules", "from node_modules"]);
  });

  test("a Python that is not there is named", async () => {
    const executor = createExecutor(sandbox, { python: "/nowhere/python3" });
    const settings = { folder: makeApplication({ "a.py": ECHO }) };
    const { outcome } = await callCode(
      executor,
      { language: "python", script: "a.py", function: "check" },
      { settings },
    );

    expect(outcome).toMatchObject({
      code: "INTERPRETER_MISSING",
      message: expect.stringContaining("/nowhere/python3"),
      effect: "none",
    });
  });
});

test("a script sees the application without its secrets and data, and cannot change it", async () => {
  needs("bwrap");
  const text = `import os
def check(input):
    refused = []
    for path in ["x", "scripts/x", "scripts/a.py"]:
        try: open(path, "w")
        except OSError: refused.append(path)
    return {"top": sorted(os.listdir(".")), "data": os.listdir("data"), "refused": refused}
`;
  const folder = makeApplication({
    "scripts/a.py": text,
    ".env": "ANTHROPIC_API_KEY=1",
    ".pawl/pawl.db": "",
    ".mcp.json": "{}",
    "pawl.yaml": "",
    "data/pawl.db": "",
  });
  const executor = createExecutor(createSandbox({ mode: "required" }), {
    hidden: [join(folder, "data"), "/somewhere/else"],
  });
  const called = await callCode(
    executor,
    { language: "python", script: "scripts/a.py", function: "check" },
    { settings: { folder } },
  );

  expect(outputOf(called)).toEqual({ top: ["data", "scripts"], data: [], refused: ["x", "scripts/x", "scripts/a.py"] });
});

test("a script that only its owner may read runs in the sandbox", async () => {
  needs("bwrap");
  const folder = makeApplication({ "a.py": ECHO });
  chmodSync(join(folder, "a.py"), 0o600);
  const called = await callCode(
    createExecutor(createSandbox({ mode: "required" })),
    { language: "python", script: "a.py", function: "check", input: 1 },
    { settings: { folder } },
  );

  expect(outputOf(called)).toBe(1);
});

test("a required sandbox that is missing fails the step before it has begun", async () => {
  const executor = createExecutor(createSandbox({ mode: "required", searchPath: folderOfTools("sh", "env") }));
  const settings = { folder: makeApplication({ "a.py": ECHO }) };
  const { outcome } = await callCode(executor, { language: "python", script: "a.py", function: "check" }, { settings });

  expect(outcome).toMatchObject({ code: "SANDBOX_MISSING", effect: "none", retryable: false });
});

test("a sandbox that is missing is told once in the log of each step", async () => {
  const executor = createExecutor(
    createSandbox({ mode: "auto", searchPath: folderOfTools("sh", "env", "setpriv", "prlimit") }),
  );
  const settings = { folder: makeApplication({ "a.py": ECHO }) };
  const { log } = await callCode(executor, { language: "python", script: "a.py", function: "check" }, { settings });

  expect(log).toEqual([{ type: "warning", text: expect.stringContaining("bwrap is not installed") }]);
});

function makePackages(): { readonly python: string; readonly nodeModules: string } {
  const root = mkdtempSync(join(tmpdir(), "packages-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const python = join(root, "venv");
  execFileSync("python3", ["-m", "venv", "--without-pip", python]);
  const [version = ""] = /python3\.\d+/.exec(execFileSync("ls", [join(python, "lib")], { encoding: "utf8" })) ?? [];
  writeFileSync(join(python, "lib", version, "site-packages", "shop_package.py"), "name = 'from the venv'\n");
  const nodeModules = join(root, "node_modules");
  mkdirSync(join(nodeModules, "shop-package"), { recursive: true });
  writeFileSync(join(nodeModules, "shop-package", "package.json"), '{"name":"shop-package","main":"index.cjs"}');
  writeFileSync(join(nodeModules, "shop-package", "index.cjs"), "exports.name = 'from node_modules';\n");
  return { python, nodeModules };
}
