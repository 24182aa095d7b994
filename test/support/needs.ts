import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { beforeEach, TestRunner } from "vitest";

/** Programs that some tests need and `npm ci` does not bring, with the package that has each. */
const PACKAGES = {
  bwrap: "bubblewrap",
  chromium: "chromium",
  curl: "curl",
  fish: "fish",
  script: "bsdutils",
  sshd: "openssh-server",
  pgbouncer: "pgbouncer",
  python3: "python3",
  "redis-server": "redis-server",
  strace: "strace",
  tmux: "tmux",
  vim: "vim",
  zsh: "zsh",
} as const;

type Tool = keyof typeof PACKAGES;

const USUAL_FOLDERS = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin"];
const NOTE = "needs ";

/**
 * Skips the running test, or every test of the file or the `describe` that calls it, where a program is missing. With `CI`
 * set it fails them instead: there everything is installed, and a test that is silently skipped tests nothing.
 */
export function needs(...tools: readonly Tool[]): void {
  const missing = tools.filter((tool) => findTool(tool) === undefined);
  if (missing.length === 0) return;
  const packages = missing.map((tool) => PACKAGES[tool]);
  const test = TestRunner.getCurrentTest();
  const skip = (context: { skip(note: string): never }) => {
    if ((process.env["CI"] ?? "") === "") context.skip(NOTE + packages.join(", "));
    throw new Error(`This test needs ${packages.join(" and ")}: ${installCommand(packages)}`);
  };
  if (test === undefined) beforeEach(skip);
  else skip(test.context);
}

/** Where a program is. Skips the running test where it is missing, like `needs`. */
export function programOf(tool: Tool): string {
  needs(tool);
  return findTool(tool) ?? tool;
}

/** For what a whole file prepares before its tests: `needs` skips tests only. */
export function isInstalled(tool: Tool): boolean {
  return findTool(tool) !== undefined;
}

/** The packages that a skipped test asked for. */
export function packagesIn(note: string | undefined): readonly string[] {
  return note?.startsWith(NOTE) === true ? note.slice(NOTE.length).split(", ") : [];
}

export function installCommand(packages: readonly string[]): string {
  return `apt-get install -y --no-install-recommends ${packages.join(" ")}`;
}

/** Undefined: it is not installed. */
export function findTool(tool: Tool): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), ...USUAL_FOLDERS];
  return folders.map((folder) => join(folder, tool)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
