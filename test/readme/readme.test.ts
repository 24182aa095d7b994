import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findFreePort } from "../support/free-port.ts";
import { needs } from "../support/needs.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

interface Block {
  /** What stands above it. */
  readonly heading: string;
  readonly script: string;
  /** `<!-- not run: needs a paid key -->` in the line before a block: why it cannot be pasted everywhere. */
  readonly notRun: string | undefined;
}

const blocks = readBlocks(readFileSync(join(ROOT, "README.md"), "utf8"));
let clone: string;

needs("curl", "python3");

beforeAll(() => {
  clone = mkdtempSync(join(tmpdir(), "pawl-readme-"));
  const tracked = execFileSync("git", ["ls-files", "-z"], { cwd: ROOT, encoding: "utf8" }).split("\0");
  const needed = tracked.filter((path) => path !== "" && !/^(test|bench|docs)\//.test(path));
  for (const path of needed) cpSync(join(ROOT, path), join(clone, path));
  symlinkSync(join(ROOT, "node_modules"), join(clone, "node_modules"));
  // What `npm ci` would build: the sources as they are, and not what was built last.
  cpSync(join(ROOT, "package.json"), join(clone, "dist/package.json"));
  writeFileSync(join(clone, "dist/main.js"), 'import "../src/main.ts";\n');
});

afterAll(() => rmSync(clone, { recursive: true, force: true, maxRetries: 5 }));

test("the README has blocks for a shell", () => {
  expect(blocks.length).toBeGreaterThan(3);
});

for (const { heading, script, notRun } of blocks) {
  test.skipIf(notRun !== undefined)(`what the README shows under "${heading}" works as it is pasted`, async () => {
    const { code, output } = await paste(await onFreePorts(script));
    expect({ code, output }).toEqual({ code: 0, output: expect.not.stringMatching(/command not found|No such file/) });
  });
}

function readBlocks(page: string): readonly Block[] {
  const found: Block[] = [];
  let heading = "";
  for (const [, title, notRun, script] of page.matchAll(
    /^#+ (.*)$|(?:^<!-- not run: (\S.*?) -->\n+)?^```(?:sh|bash|shell)\n([\s\S]*?)^```$/gm,
  )) {
    if (title !== undefined) heading = title;
    if (script !== undefined) found.push({ heading, script, notRun });
  }
  return found;
}

/** A shell of its own for each block, with what it leaves behind. A failing command ends it. */
async function paste(script: string): Promise<{ readonly code: number | null; readonly output: string }> {
  const kept = ["PATH", "HOME", "TMPDIR", "LANG"].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  // Installed it is already, and these are the tests.
  const npm = 'npm() { case "$1" in ci | test) ;; *) command npm "$@" ;; esac; }';
  const child = spawn("bash", ["-eo", "pipefail", "-c", `exec 2>&1\n${npm}\n${script}`], {
    cwd: clone,
    // `npx` links this copy into its cache, and one that is killed there leaves a broken link for the others.
    env: { ...Object.fromEntries(kept), npm_config_cache: join(clone, ".npm") },
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  const output = text(child.stdout);
  const [code] = (await once(child, "exit")) as [number | null];
  // Servers that were started in the background.
  endGroup(child.pid);
  return { code, output: await output };
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

/** The ports that a script names may be taken here. */
async function onFreePorts(script: string): Promise<string> {
  const named = [...new Set(script.match(/\b80\d\d\b/g))];
  const free = new Map<string, number>();
  for (const port of named) free.set(port, await findFreePort());
  return script.replace(/\b80\d\d\b/g, (port) => String(free.get(port)));
}
