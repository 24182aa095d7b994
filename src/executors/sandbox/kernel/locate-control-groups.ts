import { dirname } from "node:path";

/** Folders in which groups of processes with limits may be made, the likeliest first. */
export interface GroupPlaces {
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
