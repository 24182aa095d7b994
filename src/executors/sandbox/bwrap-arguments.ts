import { type Dirent, existsSync, lstatSync, readdirSync, readlinkSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { orElse } from "../../core/or-else.ts";
import { toSystemCallFilter } from "./kernel/system-call-filter.ts";
import type { SandboxSpec, Visible } from "./sandbox.ts";

/** The size limit of one file, and of all temporary files of a sandbox together. */
export const FILE_SIZE_LIMIT_BYTES = 64 * 1024 * 1024;

/** What is written into a file descriptor that bwrap reads. */
export type Feed = string | Buffer;

export interface BwrapArguments {
  /** For `--args`, so that other users do not read them in the list of processes. */
  readonly text: string;
  /** For the file descriptors from 5 on. */
  readonly feeds: readonly Feed[];
}

export interface BwrapOptions extends Pick<SandboxSpec, "cwd" | "visible"> {
  readonly env: Readonly<Record<string, string>>;
  readonly fileBytes?: number | undefined;
  /** It has a terminal of its own, into which no other program types. */
  readonly hasTerminal?: boolean | undefined;
  /** The program gets its user from bwrap. */
  readonly hasOwnUser: boolean;
}

const NOBODY = "65534";
const FIRST_FEED = 5;

/** New namespaces, a read-only system, memory for temporary files, and what the program is given; nothing else. */
export function toBwrapArguments(options: BwrapOptions): BwrapArguments {
  const { visible = [] } = options;
  const feeds: Feed[] = [];
  const feed = (what: Feed) => String(FIRST_FEED + feeds.push(what) - 1);
  const filter = toSystemCallFilter(process.arch);
  const args = [
    ...namespaces(options),
    ...system(),
    ...(filter === undefined ? [] : ["--seccomp", feed(filter)]),
    ...temporaryFolders(options),
    ...visible.flatMap((what) => show(what, feed)),
    ...visible.flatMap((what) => (what.kind === "entries" ? ["--remount-ro", what.path] : [])),
    // The root is memory too. And root outside could change the machine's settings below /proc/sys.
    ...["/dev", "/proc", "/"].flatMap((path) => ["--remount-ro", path]),
    "--clearenv",
    ...Object.entries(options.env).flatMap(([name, value]) => ["--setenv", name, value]),
    "--chdir",
    options.cwd ?? "/tmp",
  ];
  return { text: args.map((arg) => `${arg}\0`).join(""), feeds };
}

function namespaces({ hasOwnUser, hasTerminal = false }: BwrapOptions): string[] {
  return [
    "--unshare-ipc",
    "--unshare-pid",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--unshare-net",
    ...(hasOwnUser ? ["--unshare-user", "--disable-userns", "--uid", NOBODY, "--gid", NOBODY] : []),
    "--hostname",
    "sandbox",
    "--die-with-parent",
    // A shell in a session without its terminal has no jobs. Typing into it from inside is filtered.
    ...(hasTerminal ? [] : ["--new-session"]),
  ];
}

// Never all of /etc: it knows users and keys.
const SYSTEM_FILES = [
  "/nix/store",
  "/etc/ld.so.cache",
  "/etc/alternatives",
  "/etc/localtime",
  "/etc/mime.types",
  "/etc/ssl/certs",
  "/etc/ssl/openssl.cnf",
  "/etc/pki/ca-trust/extracted",
  "/etc/pki/tls/certs",
];
/** They tell of the whole machine: its memory, its keys, its clocks, and where the kernel lies. */
const KERNEL_FILES = ["kcore", "keys", "key-users", "timer_list", "sched_debug", "kallsyms", "sysrq-trigger"].map(
  (name) => `/proc/${name}`,
);

function system(): string[] {
  return [
    "--ro-bind",
    "/usr",
    "/usr",
    ...["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"].flatMap(systemFolder),
    ...SYSTEM_FILES.flatMap(showPath),
    "--proc",
    "/proc",
    ...KERNEL_FILES.filter((path) => existsSync(path)).flatMap((path) => ["--ro-bind", "/dev/null", path]),
    "--dev",
    "/dev",
  ];
}

/** On most systems these lead into /usr. */
function systemFolder(path: string): string[] {
  if (!existsSync(path)) return [];
  return lstatSync(path).isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
}

function temporaryFolders({ fileBytes = FILE_SIZE_LIMIT_BYTES }: BwrapOptions): string[] {
  const size = String(fileBytes);
  return ["/tmp", "/dev/shm"].flatMap((path) => ["--perms", "1777", "--size", size, "--tmpfs", path]);
}

function show(what: Visible, feed: (what: Feed) => string): string[] {
  switch (what.kind) {
    case "path":
      return showPath(what.path);
    case "writable":
      return [...makeParents(what.path), "--bind", what.path, what.path];
    case "socket":
      return [...makeParents(what.path), "--ro-bind", what.from, what.path];
    case "entries":
      // Made anew, so that it may be entered whatever its own permissions are.
      return ["--perms", "0755", "--tmpfs", what.path, ...entriesOf(what.path, what.without ?? [])];
    case "text":
      return [...makeParents(what.path), "--perms", "0444", "--ro-bind-data", feed(what.text), what.path];
    case "hidden":
      return hide(what.path);
  }
}

function showPath(path: string): string[] {
  return existsSync(path) ? [...makeParents(path), "--ro-bind-try", path, path] : [];
}

/** Left to bwrap they could be entered by those only who may execute what lies there. */
function makeParents(path: string): string[] {
  const parent = dirname(path);
  return parent === path || parent === "/" ? [] : [...makeParents(parent), "--perms", "0755", "--dir", parent];
}

function entriesOf(folder: string, without: readonly string[]): string[] {
  const entries = readEntries(folder).filter(({ name }) => !name.startsWith(".") && !without.includes(name));
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    // A link shows where it leads only if that is to be seen as well.
    return entry.isSymbolicLink() ? copyLink(path) : ["--ro-bind-try", path, path];
  });
}

function copyLink(path: string): string[] {
  return orElse(() => ["--symlink", readlinkSync(path), path], []);
}

function readEntries(folder: string): Dirent[] {
  return orElse(() => readdirSync(folder, { withFileTypes: true }), []);
}

function hide(path: string): string[] {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [];
  return found.isDirectory() ? ["--perms", "0755", "--tmpfs", path] : ["--ro-bind", "/dev/null", path];
}
