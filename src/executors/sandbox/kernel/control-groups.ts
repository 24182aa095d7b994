import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { isAlive, readKernel } from "./processes.ts";

/** Groups of the kernel that hold a program and all that it starts to its limits. Only where they may be made. */
export interface ControlGroups {
  /** Folders that groups are made in. */
  readonly parents: readonly string[];
  open(name: string, limits: GroupLimits): ControlGroup | undefined;
}

interface GroupLimits {
  readonly memoryBytes: number;
  readonly maxTasks: number;
}

export interface ControlGroup {
  readonly folders: readonly string[];
  /** Admits all processes that `list` finds until none is outside. The processes run meanwhile: the kernel needs about a dozen milliseconds. */
  admit(list: () => readonly number[]): void;
  readonly holdsMemory: boolean;
  readonly holdsTasks: boolean;
  members(): number[];
  tasks(): number;
  maxMemoryBytes(): number | undefined;
  hasRunOutOfMemory(): boolean;
  hasRefusedTasks(): boolean;
  /** Resolves when the kernel has let go of it, which it does a while after the last member has died. */
  remove(): Promise<void>;
}

const REMOVE_WITHIN_MS = 2_000;
const MAX_ROUNDS_OF_ADMITTING = 20;

/** `undefined`: this process may not make any, as is usual in containers. */
export async function findControlGroups(sh: string | undefined, prefix: string): Promise<ControlGroups | undefined> {
  const places = locateControlGroups(readKernel("/proc/self/mountinfo"), readKernel("/proc/self/cgroup"));
  if (places === undefined || sh === undefined) return undefined;
  const groups: ControlGroups = {
    parents: [...new Set([...places.memory, ...places.pids])],
    open: (name, limits) => openGroup(places, name, limits),
  };
  return (await canEnter(groups, sh, `pawl-${prefix}-trial`)) ? groups : undefined;
}

/** Making a group and entering it are different rights. */
async function canEnter(groups: ControlGroups, sh: string, name: string): Promise<boolean> {
  const made = groups.open(name, { memoryBytes: 64 * 1024 * 1024, maxTasks: 8 });
  if (made === undefined) return false;
  const enter = 'for folder; do echo 0 > "$folder/cgroup.procs" || exit 1; done';
  const { status } = spawnSync(sh, ["-c", enter, "sh", ...made.folders], { env: {}, stdio: "ignore" });
  await removeSoon(made.folders, { keepsAlive: true });
  return status === 0;
}

function openGroup(places: GroupPlaces, name: string, limits: GroupLimits): ControlGroup | undefined {
  const files = places.version === 1 ? FILES_V1 : FILES_V2;
  const memory = makeIn(places.memory, name, files.memoryLimit);
  const pids = makeIn(places.version === 2 ? parentOf(memory) : places.pids, name, "pids.max");
  const folders = [...new Set([memory, pids])].filter((folder) => folder !== undefined);
  if (folders.length === 0) return undefined;
  try {
    if (memory !== undefined) limitMemory(memory, limits.memoryBytes, places.version);
    if (pids !== undefined) writeFileSync(join(pids, "pids.max"), String(limits.maxTasks));
    return toGroup({ memory, pids, folders, files });
  } catch {
    removeNow(folders);
    return undefined;
  }
}

interface GroupFiles {
  readonly memoryLimit: string;
  readonly memoryMost: string;
  readonly memoryEvents: string;
}

const FILES_V1: GroupFiles = {
  memoryLimit: "memory.limit_in_bytes",
  memoryMost: "memory.max_usage_in_bytes",
  memoryEvents: "memory.oom_control",
};
const FILES_V2: GroupFiles = { memoryLimit: "memory.max", memoryMost: "memory.peak", memoryEvents: "memory.events" };

/** The folder of a new group, in the first place where the kernel gives it the file that is to be written. */
function makeIn(parents: readonly string[], name: string, file: string): string | undefined {
  for (const parent of parents) {
    const folder = join(parent, name);
    try {
      mkdirSync(folder, { recursive: true });
      if (existsSync(join(folder, file))) return folder;
      rmdirSync(folder);
    } catch {
      // Not ours to make, or a group without this controller.
    }
  }
  return undefined;
}

function parentOf(folder: string | undefined): string[] {
  return folder === undefined ? [] : [join(folder, "..")];
}

function limitMemory(folder: string, memoryBytes: number, version: 1 | 2): void {
  writeFileSync(join(folder, version === 1 ? FILES_V1.memoryLimit : FILES_V2.memoryLimit), String(memoryBytes));
  // If the kernel has these files: no way out into swap, and all members die together.
  if (version === 1) writeIfThere(join(folder, "memory.memsw.limit_in_bytes"), String(memoryBytes));
  else {
    writeIfThere(join(folder, "memory.swap.max"), "0");
    writeIfThere(join(folder, "memory.oom.group"), "1");
  }
}

function toGroup(made: {
  readonly memory: string | undefined;
  readonly pids: string | undefined;
  readonly folders: readonly string[];
  readonly files: GroupFiles;
}): ControlGroup {
  const { memory, pids, folders, files } = made;
  const members = () => {
    const listed = folders.flatMap((folder) => readKernel(join(folder, "cgroup.procs")).split("\n"));
    return [...new Set(listed.filter(Boolean).map(Number))];
  };
  let admitting: Promise<void> | undefined;
  return {
    folders,
    admit(list) {
      admitting ??= admitAll(folders, { list, members })
        .catch(() => undefined)
        .finally(() => {
          admitting = undefined;
        });
    },
    holdsMemory: memory !== undefined,
    holdsTasks: pids !== undefined,
    members,
    tasks: () => (pids === undefined ? 0 : Number(readKernel(join(pids, "pids.current")))),
    maxMemoryBytes: () => {
      const most = memory === undefined ? "" : readKernel(join(memory, files.memoryMost)).trim();
      return most === "" ? undefined : Number(most);
    },
    hasRunOutOfMemory: () => memory !== undefined && hasCounted(join(memory, files.memoryEvents), "oom_kill"),
    hasRefusedTasks: () => pids !== undefined && hasCounted(join(pids, "pids.events"), "max"),
    async remove() {
      await admitting;
      await removeSoon(folders, { keepsAlive: false });
    },
  };
}

/** Repeats until no process is outside: one that is may start others there. */
async function admitAll(
  folders: readonly string[],
  { list, members }: { list(): readonly number[]; members(): number[] },
): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS_OF_ADMITTING; round += 1) {
    const inside = members();
    const outside = list().filter((pid) => !inside.includes(pid) && isAlive(pid));
    if (outside.length === 0) return;
    for (const pid of outside) {
      for (const folder of folders) {
        // It may have ended in the meantime.
        await writeFile(join(folder, "cgroup.procs"), String(pid)).catch(() => undefined);
      }
    }
  }
}

function hasCounted(path: string, event: string): boolean {
  return new RegExp(`^${event} [1-9]`, "m").test(readKernel(path));
}

/** In the background it is nothing to stay alive for: the guard removes what we leave. */
async function removeSoon(folders: readonly string[], { keepsAlive }: { readonly keepsAlive: boolean }): Promise<void> {
  const deadline = performance.now() + REMOVE_WITHIN_MS;
  while (!removeNow(folders) && performance.now() < deadline) await setTimeout(5, undefined, { ref: keepsAlive });
}

function removeNow(folders: readonly string[]): boolean {
  for (const folder of folders) {
    try {
      rmdirSync(folder);
    } catch {
      // Not empty yet, or removed before.
    }
  }
  return !folders.some((folder) => existsSync(folder));
}

function writeIfThere(path: string, text: string): void {
  if (existsSync(path)) writeFileSync(path, text);
}

/** Folders in which groups of processes with limits may be made, the likeliest first. */
interface GroupPlaces {
  readonly memory: readonly string[];
  readonly pids: readonly string[];
  /** 2: one folder has both. */
  readonly version: 1 | 2;
}

/** From the kernel's `/proc/self/mountinfo` and `/proc/self/cgroup`. `undefined`: neither controller is mounted. */
export function locateControlGroups(mountInfo: string, ownGroups: string): GroupPlaces | undefined {
  const mounts = mountInfo.split("\n").flatMap(parseMount);
  const groups = new Map(ownGroups.split("\n").flatMap(parseGroup));
  const place = (controller: string) => {
    const mount = mounts.find(({ type, options }) => type === "cgroup" && options.includes(controller));
    return mount === undefined ? [] : [...new Set([folderOf(mount, groups.get(controller)), mount.at])];
  };
  const memory = place("memory");
  const pids = place("pids");
  if (memory.length > 0 || pids.length > 0) return { version: 1, memory, pids };

  const unified = mounts.find(({ type }) => type === "cgroup2");
  if (unified === undefined) return undefined;
  // A group that holds processes has no groups with limits below it, but those who made it may allow some beside it.
  const own = folderOf(unified, groups.get(""));
  const places = own === unified.at ? [own] : [own, dirname(own)];
  return { version: 2, memory: places, pids: places };
}

interface Mount {
  readonly root: string;
  readonly at: string;
  readonly type: string;
  readonly options: readonly string[];
}

function parseMount(line: string): Mount[] {
  const [fields = "", rest = ""] = line.split(" - ");
  const [, , , root, at] = fields.split(" ");
  const [type, , options = ""] = rest.split(" ");
  return root === undefined || at === undefined || type === undefined
    ? []
    : [{ root, at, type, options: options.split(",") }];
}

function parseGroup(line: string): [string, string][] {
  const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
  if (controllers === undefined || path === undefined) return [];
  return controllers.split(",").map((controller) => [controller, path]);
}

/** In a container the mount may begin below the path that the kernel tells. */
function folderOf({ root, at }: Mount, path = "/"): string {
  const prefix = root === "/" ? "" : root;
  const below = path.startsWith(prefix) ? path.slice(prefix.length) : "";
  return below === "/" ? at : at + below;
}
