import { randomInt } from "node:crypto";
import { release } from "node:os";
import { type BwrapArguments, type Feed, FILE_SIZE_LIMIT_BYTES, toBwrapArguments } from "./bwrap-arguments.ts";
import type { Confinement } from "./choose-confinement.ts";
import { toBridge } from "./egress-bridge.ts";
import type { Tools } from "./find-tools.ts";
import { toLimitOption } from "./kernel/brand.ts";
import { countTasksOf, readKernel } from "./kernel/processes.ts";
import type { SandboxLimits, SandboxSpec } from "./sandbox.ts";

/** The command to start, and the texts to write into it. */
export interface Launch {
  readonly kind: Confinement["kind"];
  readonly command: readonly string[];
  /** The environment of the wrappers: the program's own is in their arguments. */
  readonly env: Readonly<Record<string, string>>;
  /** For file descriptors from 4 on. */
  readonly feeds: readonly Feed[];
  readonly cwd: string;
}

export interface LaunchParts {
  readonly confinement: Confinement;
  readonly tools: Tools;
  readonly spec: SandboxSpec;
  /** Absent: its starter marks it. */
  readonly brand?: string | undefined;
  readonly hasTerminal?: boolean;
  /** The temporary folder of a plain process. */
  readonly temporary: string;
  /** The socket of the proxy for a program in bwrap that may use the network. */
  readonly egress?: string;
  /** The user of a plain process, if it has one of its own. */
  readonly user: number | undefined;
}

const PATH = "/usr/local/bin:/usr/bin:/bin";

/** bwrap has one process outside that watches, and one inside that reaps. */
export const TASKS_OF_BWRAP = 2;

/** The kernel refuses some more than may be had, so that a reader sees the limit passed. */
export const TASKS_BEYOND_LIMIT = 8;

export function toLaunch(parts: LaunchParts): Launch {
  return parts.confinement.kind === "bwrap" ? launchInBwrap(parts, parts.confinement) : launchPlain(parts);
}

function launchInBwrap(parts: LaunchParts, { user }: Extract<Confinement, { kind: "bwrap" }>): Launch {
  const { tools, spec } = parts;
  const bridge =
    parts.egress === undefined ? undefined : toBridge(parts.egress, spec.hasResultChannel === true ? 4 : 3);
  const all = { PATH, HOME: "/tmp", TMPDIR: "/tmp", LANG: "C.UTF-8", ...bridge?.env, ...spec.env };
  // Still root at that point: what could make it load or read something comes after it.
  const [env, late] = user === "dropped" ? splitHarmless(all) : [all, []];
  const bwrap: BwrapArguments = toBwrapArguments({
    cwd: spec.cwd,
    visible: [...(bridge?.visible ?? []), ...(spec.visible ?? [])],
    env,
    fileBytes: spec.limits.fileBytes,
    hasTerminal: parts.hasTerminal,
    hasOwnUser: user === "namespace",
  });
  const dropped = user === "dropped" ? [...dropUser(tools, chooseUser()), ...setLate(tools, late)] : [];
  // In a user namespace the count begins there; outside, our own processes would use it up.
  const inside = user === "namespace" ? limitTasks(tools, spec.limits, { isFresh: countsPerNamespace() }) : [];
  const outside = user === "dropped" ? taskLimit(spec.limits, 0) : [];
  const command = [
    ...limitAll(parts, [...outside, ...(bridge === undefined ? addressLimit(spec.limits) : [])]),
    tools.bwrap ?? "bwrap",
    "--args",
    "4",
    "--",
    ...dropped,
    ...inside,
    // The bridge reserves more addresses than a program may.
    ...(bridge === undefined ? [] : [...bridge.command, ...limitAddresses(tools, spec.limits)]),
    spec.command,
    ...spec.args,
  ];
  return { kind: "bwrap", command, env: { PATH }, feeds: [bwrap.text, ...bwrap.feeds], cwd: "/" };
}

const HARMLESS = /^(?:PATH|HOME|TMPDIR|LANG|PAWL_\w+|PYTHON\w+|NODE_\w+)$/;

function splitHarmless(env: Readonly<Record<string, string>>): [Record<string, string>, [string, string][]] {
  const entries = Object.entries(env);
  const harmless = entries.filter(([name]) => HARMLESS.test(name));
  return [Object.fromEntries(harmless), entries.filter(([name]) => !HARMLESS.test(name))];
}

function setLate({ env = "env" }: Tools, late: readonly [string, string][]): string[] {
  return late.length === 0 ? [] : [env, ...late.map(([name, value]) => `${name}=${value}`)];
}

function launchPlain(parts: LaunchParts): Launch {
  const { tools, spec, temporary, user } = parts;
  const env = { PATH, HOME: temporary, TMPDIR: temporary, LANG: "C.UTF-8", ...spec.env };
  const assignments = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const others = user === undefined ? countTasksOf(process.getuid?.() ?? 0) : 0;
  const tasks = process.getuid?.() === 0 && user === undefined ? [] : taskLimit(spec.limits, others);
  const command = [
    ...limitAll(parts, [...tasks, ...addressLimit(spec.limits)]),
    ...setPrivileges(parts),
    tools.env ?? "env",
    "-i",
    ...assignments,
    spec.command,
    ...spec.args,
  ];
  return { kind: "process", command, env: { PATH }, feeds: [], cwd: spec.cwd ?? temporary };
}

function limitAll({ tools, spec, brand }: LaunchParts, more: readonly string[]): string[] {
  if (tools.prlimit === undefined) return [];
  const { cpuSeconds, fileBytes = FILE_SIZE_LIMIT_BYTES } = spec.limits;
  return [
    tools.prlimit,
    ...(brand === undefined ? [] : [toLimitOption(brand)]),
    "--core=0:0",
    `--fsize=${fileBytes}:${fileBytes}`,
    ...(cpuSeconds === undefined ? [] : [`--cpu=${cpuSeconds}:${cpuSeconds + 1}`]),
    ...more,
    "--",
  ];
}

function addressLimit({ addressSpaceBytes: bytes }: SandboxLimits): string[] {
  return bytes === undefined ? [] : [`--as=${bytes}:${bytes}`];
}

function limitAddresses({ prlimit }: Tools, limits: SandboxLimits): string[] {
  const limit = addressLimit(limits);
  return prlimit === undefined || limit.length === 0 ? [] : [prlimit, ...limit, "--"];
}

function limitTasks({ prlimit }: Tools, limits: SandboxLimits, { isFresh }: { readonly isFresh: boolean }): string[] {
  if (prlimit === undefined) return [];
  const others = isFresh ? 0 : countTasksOf(process.getuid?.() ?? 0);
  return [prlimit, ...taskLimit(limits, others), "--"];
}

function taskLimit({ maxProcesses }: SandboxLimits, others: number): string[] {
  const tasks = maxProcesses + TASKS_BEYOND_LIMIT + others;
  return [`--nproc=${tasks}:${tasks}`];
}

/** Linux counts tasks per user namespace since 5.14. */
function countsPerNamespace(): boolean {
  const [major = 0, minor = 0] = release()
    .split(".")
    .map((part) => Number.parseInt(part, 10));
  return major > 5 || (major === 5 && minor >= 14);
}

function dropUser({ setpriv = "setpriv" }: Tools, user: number | undefined): string[] {
  if (user === undefined) throw new Error("only root can run a program as a user of its own");
  return [setpriv, ...ownUser(user, ""), "--"];
}

function setPrivileges({ confinement, tools, user }: LaunchParts): string[] {
  if (confinement.kind !== "process" || tools.setpriv === undefined || !confinement.diesWithParent) return [];
  // With the right to read, root's own files are found as if root ran the program, and none can be written.
  const kept = confinement.user === "reading" ? ",+dac_read_search" : "";
  const options = user === undefined ? ["--no-new-privs"] : ownUser(user, kept);
  return [tools.setpriv, ...options, "--pdeathsig=KILL", "--"];
}

function ownUser(user: number, kept: string): string[] {
  return [
    `--reuid=${user}`,
    `--regid=${user}`,
    "--clear-groups",
    `--inh-caps=-all${kept}`,
    `--ambient-caps=-all${kept}`,
    `--bounding-set=-all${kept}`,
    "--no-new-privs",
  ];
}

// Ids that no user has: above the ranges of containers, and within 31 bits.
const FIRST_FREE_USER = 0x70_00_00_00;
const FREE_USERS = 0x0f_00_00_00;

/** An unused, unprivileged user id for one program, since the kernel counts processes per user. `undefined`: we are not root, or may use no other. */
export function chooseUser(): number | undefined {
  if (process.getuid?.() !== 0) return undefined;
  return pickUser(readKernel("/proc/self/uid_map"));
}

/** `uidMap` as the kernel writes it: lines of `first-inside first-outside count`. */
export function pickUser(uidMap: string): number | undefined {
  const ranges = uidMap
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number))
    .map(([first = 0, , count = 0]) => ({ first, end: first + count }));
  if (ranges.some(({ first, end }) => first <= FIRST_FREE_USER && end >= FIRST_FREE_USER + FREE_USERS))
    return FIRST_FREE_USER + randomInt(FREE_USERS);
  // In a container with its own 65,536 ids: above those of people and below `nobody`.
  const own = ranges.find(({ first, end }) => first === 0 && end >= 65_536);
  return own === undefined ? undefined : 61_184 + randomInt(4_000);
}
