import { posix } from "node:path";
import { type ReadContext, readCommands } from "./read-command.ts";
import { DOUBTFUL, HOME, isFetching, nameOf, type ReadCommand, textOf, UNKNOWN, withoutMarks } from "./shell-words.ts";

type HarmRule = "other-user" | "deletion" | "system-files" | "machine" | "fork-bomb" | "unknown-program";

export interface Harm {
  readonly rule: HarmRule;
  readonly reason: string;
}

export interface Finding {
  readonly harm: Harm | undefined;
  /** It could not be read to its end. */
  readonly isUnfinished: boolean;
}

/** So much is read at most: of the text, and of the texts that it makes up. */
const MAX_READ = 300_000;
const MAX_LOOKS = 100;

/**
 * Finds what a command would do that nobody wants by accident. It is read as shells read it, and nothing of it is run. What other
 * programs do with the texts that they are given (`python -c`) it cannot tell: what must not happen is held by the sandbox.
 */
export function findHarm(text: string): Finding {
  const context: ReadContext = { variables: new Map(), left: MAX_READ, depth: 0 };
  const search = new Search(context);
  search.read(withoutMarks(text));
  return search;
}

/**
 * Finds harm in a line that keys have changed in ways which are not known: from each word on that may begin a harmful command.
 */
export function findHarmWithin(text: string): Harm | undefined {
  for (const [looks, { index }] of [...text.matchAll(SUSPECTS)].entries()) {
    const harm = looks < MAX_LOOKS ? findHarm(text.slice(index)).harm : UNKNOWN_PROGRAM;
    if (harm !== undefined) return harm;
  }
  return undefined;
}

class Search implements Finding {
  harm: Harm | undefined;
  isUnfinished = false;
  readonly #context: ReadContext;
  /** Of the commands that are looked at. */
  #folder: string | undefined;
  #fetches = false;

  constructor(context: ReadContext) {
    this.#context = context;
  }

  read(text: string): void {
    const { commands, isUnfinished } = readCommands(text, this.#context);
    this.isUnfinished ||= isUnfinished;
    for (const command of commands) {
      this.#fetches ||= isFetching(command);
      this.harm ??= this.#judge(command);
    }
  }

  #judge(command: ReadCommand): Harm | undefined {
    const written = command.writes.find((path) => isOfSystem(this.#resolve(path)));
    if (written !== undefined) return SYSTEM_FILES;
    const name = nameOf(command);
    const repeats = command.within.includes(name) || command.words[0] === "$0";
    if (command.isEndless || (repeats && (command.isPiped || command.isInBackground))) return FORK_BOMB;
    return this.#judgeWords(command, command.words);
  }

  #judgeWords(command: ReadCommand, words: readonly string[]): Harm | undefined {
    const [word = "", ...args] = words;
    if (word === "") return args.length === 0 ? undefined : this.#judgeWords(command, args);
    const name = nameOf({ words });
    if (name.includes(DOUBTFUL)) return UNKNOWN_PROGRAM;
    // Which program it is cannot be told: none of those that do harm may be.
    if (/[\ue000\ue001*?[]/.test(name)) return this.#judgeUnknown(args);
    if (name === "cd" || name === "pushd")
      this.#folder = this.#resolve(args.find((arg) => !arg.startsWith("-")) ?? HOME);
    const wrapper = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined;
    if (wrapper !== undefined) return this.#judgeWrapped(command, { name, args, wrapper });
    if (SHELLS.has(name)) return this.#judgeShell(command, name === "at" || name === "batch" ? [] : args);
    if (name === "find" || name === "fd") return this.#judgeFind(command, args);
    if (Object.hasOwn(TEXTS, name)) {
      const text = TEXTS[name]?.(args);
      if (text !== undefined) return this.#judgeText(text);
    }
    if (/^(?:python|perl|ruby|node|php|lua)[\d.]*$/.test(name)) {
      const isFetched = command.isPiped && this.#fetches && args.every((arg) => arg === "-");
      return isFetched || args.some((arg) => arg.includes(DOUBTFUL)) ? UNKNOWN_PROGRAM : undefined;
    }
    return this.#judgeProgram(name, args);
  }

  #judgeProgram(name: string, args: readonly string[]): Harm | undefined {
    const resolved = args.map((arg) => (arg.startsWith("-") ? arg : this.#resolve(arg)));
    if (/^mkfs|^newfs|^mke2fs/.test(name)) return DISKS;
    return (Object.hasOwn(PROGRAMS, name) ? PROGRAMS[name] : undefined)?.(resolved);
  }

  #judgeUnknown(args: readonly string[]): Harm | undefined {
    for (const name of ["rm", "dd", "chmod", "mv", "tee"]) {
      const harm = this.#judgeProgram(name, args);
      if (harm !== undefined) return harm;
    }
    const text = args.findIndex((arg) => /^-\w*c$/.test(arg));
    return text === -1 ? undefined : this.#judgeText(args[text + 1] ?? "");
  }

  #judgeText(text: string): Harm | undefined {
    if (text.includes(DOUBTFUL) || text.startsWith(UNKNOWN)) return UNKNOWN_PROGRAM;
    this.#context.depth += 1;
    this.read(text.replaceAll(HOME, "~").replace(/[\ue000\ue001]/g, "$__unknown"));
    this.#context.depth -= 1;
    return this.harm;
  }

  #judgeWrapped(
    command: ReadCommand,
    { name, args, wrapper }: { name: string; args: readonly string[]; wrapper: Wrapper },
  ): Harm | undefined {
    if (wrapper.stops?.test(args[0] ?? "") === true) return undefined;
    const rest = [...args];
    let positions = wrapper.positions ?? 0;
    for (let next = rest[0]; next !== undefined; next = rest[0]) {
      const isOption = next.startsWith("-") || /^[A-Za-z_]\w*=/.test(next);
      const isNumber = /^[\d.]+[smhd]?$/.test(next);
      if (!isOption && !isNumber && positions-- <= 0) break;
      rest.shift();
      if (isOption && name === "env" && /^(?:-\w*S|--split-string)/.test(next))
        return this.#judgeText([next.replace(/^(?:-\w*S|--split-string=?)/, ""), ...rest].join(" "));
      if (/^-\w$/.test(next) && wrapper.takes?.includes(next.slice(1)) === true) rest.shift();
      if (isNumber) positions = Math.min(positions, 0);
    }
    if (wrapper.isText === true) return this.#judgeText(rest.join(" "));
    const given = name === "xargs" || name === "parallel" ? this.#givenBy(command) : [];
    const replaced = rest.map((each) =>
      each.includes("{}") && rest.length > 1 ? each.replaceAll("{}", given[0] ?? UNKNOWN) : each,
    );
    if (given.length > 0 && rest.length === 0) return this.#judgeText(given.join(" "));
    return this.#judgeWords(command, [...replaced, ...given]);
  }

  /** The arguments that come through a pipe, as far as they are known. */
  #givenBy({ from, input }: ReadCommand): readonly string[] {
    if (from === undefined || from === "unknown") return (input ?? "").split(/\s+/).filter(Boolean);
    const text = textOf(from);
    if (text !== undefined) return text.split(/\s+/).filter(Boolean);
    const roots = from.words.slice(1).filter((word) => isRoot(this.#resolve(word)));
    return roots.length > 0 && nameOf(from) === "find" ? ["-r", ...roots] : roots;
  }

  #judgeShell(command: ReadCommand, args: readonly string[]): Harm | undefined {
    const option = args.findIndex((arg) => /^-\w*c$/.test(arg));
    if (option !== -1) {
      const [text, ...others] = args.slice(option + 1).filter((arg) => !/^[-+]\w|^pipefail$/.test(arg));
      if (text === undefined) return UNKNOWN_PROGRAM;
      for (const [index, value] of others.entries()) this.#context.variables.set(String(index), value);
      this.#context.variables.set("@", others.slice(1).join(" "));
      return this.#judgeText(text.replaceAll("{}", UNKNOWN));
    }
    const file = args.find((arg) => !/^[-+]/.test(arg) && arg !== "/dev/stdin");
    if (file !== undefined && !args.includes("-s")) return file.includes(DOUBTFUL) ? UNKNOWN_PROGRAM : undefined;
    const { from, input } = command;
    if (input !== undefined) return this.#judgeText(input);
    if (from === undefined) return undefined;
    const text = from === "unknown" ? undefined : textOf(from);
    return text === undefined ? UNKNOWN_PROGRAM : this.#judgeText(text);
  }

  #judgeFind(command: ReadCommand, args: readonly string[]): Harm | undefined {
    const first = args.findIndex((arg) => /^[-(!]/.test(arg));
    const starts = args.slice(0, first === -1 ? undefined : first);
    const isEverywhere = starts.some((start) => isRoot(this.#resolve(start)));
    if (args.includes("-delete") && isEverywhere) return DELETION;
    for (const [index, arg] of args.entries()) {
      if (!/^-(?:exec|execdir|ok|okdir|x|X)$/.test(arg)) continue;
      const run = args.slice(index + 1);
      const end = run.findIndex((each) => each === ";" || each === "+");
      const words = run.slice(0, end === -1 ? undefined : end).flatMap((each) => (each === "{}" ? starts : [each]));
      const [program = "", ...others] = words;
      // What find finds lies below where it starts.
      const harm = this.#judgeWords(command, [program, ...(program === "rm" ? ["-r"] : []), ...others]);
      if (harm !== undefined) return harm;
    }
    return undefined;
  }

  #resolve(path: string): string {
    const isBelow = !/^[/\ue000-\ue003]/.test(path) && this.#folder !== undefined;
    return path === "" ? "" : posix.normalize(isBelow ? `${this.#folder}/${path}` : path);
  }
}

interface Wrapper {
  /** Letters of options that take a value of their own. */
  readonly takes?: string;
  /** Words before the command. */
  readonly positions?: number;
  /** The rest is the text of a program. */
  readonly isText?: boolean;
  /** With this first argument nothing is run. */
  readonly stops?: RegExp;
}

/** Programs that run the command in their arguments. */
const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  ...toTable("chrt builtin busybox toybox nohup setsid unbuffer caffeinate unshare", {}),
  ...toTable("taskset flock chroot", { takes: "cwE", positions: 1 }),
  ...toTable("strace ltrace", { takes: "oepsuS" }),
  ...{ env: { takes: "uC" }, xargs: { takes: "IEdnPLsa" }, parallel: { takes: "jNnI" }, timeout: { takes: "ks" } },
  ...{
    nice: { takes: "n" },
    ionice: { takes: "cnp" },
    stdbuf: { takes: "ioe" },
    exec: { takes: "a" },
    time: { takes: "fo" },
  },
  ...{ nsenter: { takes: "t" }, "systemd-run": { takes: "pu" }, command: { stops: /^-[vV]/ } },
  ...{ eval: { isText: true }, watch: { takes: "n", isText: true } },
  ssh: { takes: "bcDEeFIiJLlmOopQRSWw", positions: 1, isText: true },
};

/** The text of a program among the arguments of others. */
const TEXTS: Readonly<Record<string, (args: readonly string[]) => string | undefined>> = {
  trap: ([text]) => text,
  alias: (args) => args.map((arg) => arg.replace(/^[^=]*=?/, "")).join("\n"),
  abbr: (args) => args.slice(1).join(" "),
  script: (args) => args[args.findIndex((arg) => /^-\w*c$/.test(arg)) + 1],
};

/** Programs that run a text which they read. */
const SHELLS = toSet("sh bash zsh fish dash ash ksh mksh csh tcsh rbash pwsh at batch source .");

type Check = (args: readonly string[]) => Harm | undefined;

const OTHER_USER: Harm = { rule: "other-user", reason: "It runs as another user, or changes what users may do." };
const DELETION: Harm = {
  rule: "deletion",
  reason: "It deletes a home, the system, or all of a folder that it does not name.",
};
const SYSTEM_FILES: Harm = { rule: "system-files", reason: "It writes to a device or to files of the system." };
const DISKS: Harm = { rule: "machine", reason: "It changes disks or file systems." };
const STOP: Harm = { rule: "machine", reason: "It stops the machine." };
const ALL_PROCESSES: Harm = { rule: "machine", reason: "It ends all processes, or the first of them." };
const FORK_BOMB: Harm = { rule: "fork-bomb", reason: "It starts itself again and again in the background." };
const UNKNOWN_PROGRAM: Harm = {
  rule: "unknown-program",
  reason: "It runs a text that cannot be read before: one that is fetched, decoded, or comes through a pipe.",
};

const writesAll = where(isOfSystem, SYSTEM_FILES);
const writesLast: Check = (args) => writesAll(args.filter((arg) => !arg.startsWith("-")).slice(-1));
const stops = where((arg) => STOPS.has(arg), STOP);
const removesAll = where((arg) => isRoot(arg) || isAllOfHere(arg), DELETION);
const remove: Check = (args) =>
  (args.some((arg) => /^-[a-zA-Z]*[rR]|^--recursive/.test(arg)) ? removesAll(args) : undefined) ?? writesAll(args);
const changeOwner: Check = (args) => {
  const isRecursive = args.some((arg) => /^-[a-zA-Z]*R|^--recursive/.test(arg));
  return args.includes("/") || (isRecursive && args.some(isRoot)) ? SYSTEM_FILES : writesAll(args);
};
const SET_USER = /^[ugoa]*[ua][ugoa]*\+\w*s|^\+\w*s|^[ua]+=\w*s|^0*[4-7][0-7]{3}$/;
const listens = where((arg) => /^-\w*[ec]$|^--(?:sh-)?exec|^(?:exec|system):/i.test(arg), UNKNOWN_PROGRAM);

/** What these do with their arguments. */
const PROGRAMS: Readonly<Record<string, Check>> = {
  ...toTable(
    "sudo su doas pkexec runuser sudoedit visudo vipw run0 newgrp passwd chpasswd gpasswd usermod useradd userdel adduser deluser " +
      "groupadd groupmod groupdel setcap",
    () => OTHER_USER,
  ),
  ...toTable(
    "fdisk sfdisk gdisk cfdisk sgdisk parted wipefs mkswap blkdiscard cryptsetup badblocks zpool lvremove vgremove pvremove pvcreate",
    () => DISKS,
  ),
  ...toTable("shutdown reboot halt poweroff telinit kexec", () => STOP),
  ...toTable("systemctl loginctl", stops),
  ...toTable("rmdir unlink truncate tee chattr", writesAll),
  ...toTable("cp ln install scp", writesLast),
  ...toTable("chown chgrp", changeOwner),
  ...toTable("nc ncat netcat socat", listens),
  init: where((arg) => /^[0-6sS]$/.test(arg), STOP),
  killall5: () => ALL_PROCESSES,
  kill: (args) => {
    const signals = args[0] === "-s" || args[0] === "-n" ? 2 : args[0]?.startsWith("-") ? 1 : 0;
    return args.slice(signals).some((arg) => /^-1$|^0*1$/.test(arg)) ? ALL_PROCESSES : undefined;
  },
  pkill: where((arg) => /^\.[*+]?$|^\^?$/.test(arg), ALL_PROCESSES),
  diskutil: where((arg) => /^(?:erase|secureErase|partition|reformat)/i.test(arg), DISKS),
  dd: where((arg) => arg.startsWith("of=") && isOfSystem(posix.normalize(arg.slice(3))), SYSTEM_FILES),
  rm: remove,
  shred: (args) => remove(["-r", ...args]),
  chmod: (args) => (args.some((arg) => SET_USER.test(arg)) ? OTHER_USER : changeOwner(args)),
  mv: (args) => (args.slice(0, -1).some(isRoot) ? DELETION : writesAll(args)),
  rsync: (args) =>
    args.some((arg) => /^--(?:delete|remove)/.test(arg)) && isRoot(args.at(-1) ?? "") ? DELETION : writesLast(args),
  sed: (args) => (args.some((arg) => /^-[a-zA-Z]*i|^--in-place/.test(arg)) ? writesAll(args) : undefined),
};

const STOPS = toSet("poweroff reboot halt kexec suspend hibernate rescue emergency hybrid-sleep soft-reboot");

function where(test: (arg: string) => boolean, harm: Harm): Check {
  return (args) => (args.some((arg) => test(arg)) ? harm : undefined);
}

function toTable<Value>(names: string, value: Value): Readonly<Record<string, Value>> {
  return Object.fromEntries(names.split(" ").map((name) => [name, value]));
}

function toSet(words: string): ReadonlySet<string> {
  return new Set(words.split(" "));
}

/** Where a harmful command may begin, whatever stands before it. */
const SUSPECTS = new RegExp(
  [...[PROGRAMS, WRAPPERS, TEXTS].flatMap(Object.keys), ...SHELLS, "mkfs", "curl", "wget", "find", ":\\("]
    .map((name) => name.replace(/^\.$/, "\\."))
    .sort((one, other) => other.length - one.length)
    .join("|"),
  "g",
);

const SYSTEM =
  /^(?:\/private)?\/(?:etc|boot|bin|sbin|lib|lib32|lib64|usr|sys|proc|System|Library|var\/lib|var\/spool)(?:\/|$)/;
const OF_USERS = /^\/usr\/local(?:\/|$)/;
const DEVICE = /^\/dev(?:\/|$)/;
const HARMLESS_DEVICE = /^\/dev\/(?:null|tty|stdin|stdout|stderr|full|zero|random|urandom|fd\/\d+|pts\/\d+|shm\/.+)$/;
const ROOTS = toSet(
  "bin boot dev etc home lib lib32 lib64 media mnt opt proc root run sbin srv sys usr var Users System Library Applications private Volumes",
);
const A_HOME = "/home/me";

/** Devices, and files that belong to the system. */
function isOfSystem(path: string): boolean {
  if (DEVICE.test(path)) return !HARMLESS_DEVICE.test(path);
  return (SYSTEM.test(path) && !OF_USERS.test(path)) || path.includes("/.ssh/authorized_keys");
}

/** All of the system, one of its own folders, or a home. Parts of a path that are not known may be empty. */
function isRoot(given: string): boolean {
  const known = given.replaceAll(HOME, A_HOME).replace(/[\ue001\ue002]/g, UNKNOWN);
  const path = posix.normalize(known).replace(/(?:\/(?:\.?\*|\.\[[^/]*|\ue000)?)+$/, "");
  if (path === "" || (path === UNKNOWN && known !== UNKNOWN)) return true;
  const [before, first = "", second = "", third] = path.split("/");
  if (before !== "") return false;
  if (/[*?[\ue000]/.test(first)) return true;
  if (/^(?:home|Users)$/.test(first)) return third === undefined;
  return second === "" ? ROOTS.has(first) : SYSTEM.test(path) && !OF_USERS.test(path);
}

/** A pattern for all that is in a folder which is not named. */
function isAllOfHere(path: string): boolean {
  return /^(?:\.{1,2}\/)*(?:\.{1,2}|\*|\.\*)\/?$/.test(path);
}
