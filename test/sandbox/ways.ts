import { existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { SandboxOptions } from "../../src/executors/sandbox/create-sandbox.ts";

export interface Way {
  readonly name: string;
  readonly kind: "bwrap" | "process";
  readonly options: SandboxOptions;
}

/** Every way to hold a program, each with and without the kernel's control groups. */
export const WAYS: readonly Way[] = [
  { name: "bwrap", kind: "bwrap", options: { mode: "required" } },
  { name: "bwrap without control groups", kind: "bwrap", options: { mode: "required", controlGroups: false } },
  { name: "a plain process", kind: "process", options: { mode: "off" } },
  { name: "a plain process without control groups", kind: "process", options: { mode: "off", controlGroups: false } },
];

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
