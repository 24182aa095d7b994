import { execFileSync } from "node:child_process";
import { readlinkSync } from "node:fs";
import { orElse } from "../../../core/or-else.ts";
import { readStat } from "../../sandbox/kernel/processes.ts";
import { type ShellKind, toShellKind } from "./shell-lines.ts";

/** The program that has a terminal in front: it gets what is typed. */
export interface FrontProgram {
  readonly pid: number;
  readonly name: string;
  /** Undefined: it is no shell that is known. */
  readonly shell: ShellKind | undefined;
  /** The shell runs beyond the program: on another machine, or in a terminal of its own. */
  readonly far?: { readonly isTaught: boolean };
  /** Another one where the process has become another program, be it another shell of the same name. */
  readonly id: string;
}

/** Programs in which a shell may run that this machine does not show in front. */
const CARRIERS =
  /^(?:ssh|mosh|telnet|su|sudo|doas|script|docker|podman|kubectl|nsenter|chroot|lxc|machinectl|unbuffer)/;
/** These draw what a shell in them puts out, and let no marks through. */
const WINDOWS = /^(?:tmux|screen|zellij)/;

/** Whether a shell may read what is typed into a program. */
export function mayLeadToShell({ shell, name }: FrontProgram): boolean {
  return shell !== undefined || CARRIERS.test(name) || WINDOWS.test(name);
}

/** Whether a shell in it can be asked who it is. */
export function canCarryMarks({ name }: FrontProgram): boolean {
  return CARRIERS.test(name);
}

/** Undefined: the program is gone. `pid`: the one that the terminal was opened with. */
export function findFront(pid: number): FrontProgram | undefined {
  return orElse(() => (process.platform === "linux" ? findByProc(pid) : findByPs(pid)), undefined);
}

/** The folder that a program is in; where that cannot be seen, undefined. */
export function folderOf(pid: number): string | undefined {
  return orElse(() => readlinkSync(`/proc/${pid}/cwd`), undefined);
}

// Fields of `readStat`: the group in front of the terminal, and where the stack begins, which every start of
// a program puts elsewhere.
const FRONT_GROUP = 5;
const STACK_START = 25;

function findByProc(pid: number): FrontProgram {
  const group = Number(readStat(pid).fields[FRONT_GROUP]);
  const seen = group > 0 ? group : pid;
  const { fields: state } = readStat(seen);
  // One that has ended makes room for the shell that has begun it.
  const front = state[0] === "Z" ? Number(state[1]) : seen;
  const { name, fields } = readStat(front);
  return { pid: front, name, shell: toShellKind(name), id: `${front} ${name} ${fields[STACK_START]}` };
}

function findByPs(pid: number): FrontProgram {
  const ask = (field: string, of: number) =>
    execFileSync("ps", ["-o", `${field}=`, "-p", String(of)], { encoding: "utf8" }).trim();
  const group = Number(ask("tpgid", pid));
  const front = group > 0 ? group : pid;
  const name = ask("comm", front).replace(/^.*\//, "");
  return { pid: front, name, shell: toShellKind(name), id: `${front} ${name}` };
}
