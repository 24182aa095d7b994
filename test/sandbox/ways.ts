import { existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createSandbox, type SandboxOptions } from "../../src/executors/sandbox/create-sandbox.ts";
import type { Sandbox } from "../../src/executors/sandbox/sandbox.ts";

export interface Way {
  readonly name: string;
  readonly kind: "bwrap" | "process";
  readonly options: SandboxOptions;
  /** With those options, for all tests of a file: it looks once at what this machine can do, with programs of its own. */
  readonly sandbox: Sandbox;
}

/** Every way to hold a program, each with and without the kernel's control groups. */
export const WAYS: readonly Way[] = [
  toWay("bwrap", "bwrap", { mode: "required" }),
  toWay("bwrap without control groups", "bwrap", { mode: "required", controlGroups: false }),
  toWay("a plain process", "process", { mode: "off" }),
  toWay("a plain process without control groups", "process", { mode: "off", controlGroups: false }),
];

function toWay(name: string, kind: Way["kind"], options: SandboxOptions): Way {
  return { name, kind, options, sandbox: createSandbox(options) };
}

/** A folder with links to some of the system's programs, so that the others are not found. */
export function folderOfTools(...names: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "tools-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const name of names) {
    const place = ["/usr/local/bin", "/usr/bin", "/bin"].find((bin) => existsSync(join(bin, name)));
    if (place === undefined) throw new Error(`${name} is not installed, and this test needs it`);
    symlinkSync(join(place, name), join(folder, name));
  }
  return folder;
}
