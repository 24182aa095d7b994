import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { createSandbox } from "../../src/executors/sandbox/create-sandbox.ts";
import { needs } from "../support/needs.ts";
import { callCode, createExecutor, makeApplication, outputOf } from "./application.ts";

needs("bwrap", "python3");

/** Reads every file that lies below a folder of the machine, as far as the sandbox shows it. */
const SPY = `
import os
def check(input):
    return sorted(os.path.relpath(os.path.join(at, name), input)
        for at, _, names in os.walk(input) for name in names if not "/lib/" in at + "/")
`;

const sandbox = createSandbox({ mode: "required" });

test.each(["a link", "a script", "a virtual environment", "an installation"])(
  "%s that is first on the PATH, in a home, does not show the home",
  async (kind) => {
    const home = makeHome();
    placePython(kind, home);
    vi.stubEnv("PATH", `${join(home, "bin")}:${process.env["PATH"]}`);
    onTestFinished(() => void vi.unstubAllEnvs());

    expect((await spyOn(home)).filter((path) => !/^bin.python3|^pyvenv.cfg$/.test(path))).toEqual([]);
  },
);

test("an interpreter around the application does not uncover what is hidden there", async () => {
  const outer = makeHome();
  rmSync(join(outer, ".ssh"), { recursive: true });
  execFileSync("python3", ["-m", "venv", "--without-pip", outer]);
  const folder = join(outer, "app");
  mkdirSync(join(folder, ".pawl"), { recursive: true });
  writeFileSync(join(folder, ".pawl", "pawl.db"), "runs");
  writeFileSync(join(folder, "a.py"), SPY);

  const executor = createExecutor(sandbox, { python: outer });
  const input = { language: "python", script: "a.py", function: "check", input: outer };
  const seen = outputOf(await callCode(executor, input, { settings: { folder } })) as string[];
  expect(seen.filter((path) => /pawl|Documents/.test(path))).toEqual([]);
  expect(seen).toContain("app/a.py");
});

test("a folder of packages that is a home is refused", async () => {
  const home = makeHome();
  const folder = makeApplication({ "a.mjs": "export const check = () => 1;" });
  const input = { language: "javascript", script: "a.mjs", function: "check" };
  const { outcome } = await callCode(createExecutor(sandbox, { nodeModules: home }), input, { settings: { folder } });

  expect(outcome).toMatchObject({ code: "INTERPRETER_MISSING", message: expect.stringContaining(home) });
});

async function spyOn(home: string): Promise<readonly string[]> {
  const folder = makeApplication({ "a.py": SPY });
  const input = { language: "python", script: "a.py", function: "check", input: home };
  return outputOf(await callCode(createExecutor(sandbox), input, { settings: { folder } })) as string[];
}

function makeHome(): string {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "home-")));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  for (const [name, text] of [
    [".ssh", "id"],
    ["Documents", "diary.txt"],
    ["bin", "deploy-with-password"],
  ] as const) {
    mkdirSync(join(home, name));
    writeFileSync(join(home, name, text), "secret");
  }
  return home;
}

function placePython(kind: string, home: string): void {
  const place = join(home, "bin", "python3");
  const ask = (what: string) =>
    execFileSync("python3", ["-c", `import sys; print(${what})`], { encoding: "utf8" }).trim();
  const real = realpathSync(ask("sys.executable"));
  if (kind === "a link") symlinkSync(real, place);
  if (kind === "a script") writeFileSync(place, `#!/bin/sh\nexec ${real} "$@"\n`, { mode: 0o755 });
  if (kind === "a virtual environment") execFileSync(real, ["-m", "venv", "--without-pip", home]);
  if (kind !== "an installation") return;
  cpSync(real, place);
  const version = ask("'python%d.%d' % sys.version_info[:2]");
  cpSync(join(ask("sys.base_prefix"), "lib", version), join(home, "lib", version), {
    recursive: true,
    filter: (path) => !/[/](site-packages|test|config-.*|idlelib|tkinter|__pycache__)$/.test(path),
  });
}
