import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createSandbox, type SandboxOptions } from "../../src/executors/sandbox/create-sandbox.ts";
import type { Sandbox } from "../../src/executors/sandbox/sandbox.ts";
import { findMarked, waitUntil } from "./marked-processes.ts";

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

/** A shell that is started ahead and then told what to do, in place of a program that is given as arguments. */
export function toReadyWay(): Way {
  const options = { mode: "required", ready: 16 } as const;
  const opened = createSandbox(options);
  const sandbox: Sandbox = {
    close: opened.close,
    prepareStanding: opened.prepareStanding,
    async runSandboxed({ env = {}, args, ...rest }, signal) {
      const token = randomUUID();
      const waiting = { ...rest, args: ["-c", `eval "$(cat)" # ${token}`], waitsForInput: true };
      await opened.runSandboxed({ ...waiting, stdin: "exit 0" }, new AbortController().signal);
      await waitUntil("the next one waits", () => findMarked(token).length >= 3);
      const exports = Object.entries(env).map(([name, value]) => `export ${name}=${value}`);
      return opened.runSandboxed({ ...waiting, stdin: [...exports, args[1]].join("\n") }, signal);
    },
  };
  return { name: "bwrap that stood ready", kind: "bwrap", options, sandbox };
}

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
