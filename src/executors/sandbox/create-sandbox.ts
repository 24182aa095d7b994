import { chownSync, mkdtempSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { writeExact } from "../../core/exact-json.ts";
import { type Confinement, chooseConfinement, type Found } from "./choose-confinement.ts";
import { withBridge } from "./egress-bridge.ts";
import { findTools, type Tools } from "./find-tools.ts";
import { type Brands, createBrands } from "./kernel/brand.ts";
import { type ControlGroups, findControlGroups } from "./kernel/control-groups.ts";
import { chooseUser, TASKS_BEYOND_LIMIT, TASKS_OF_BWRAP, toLaunch } from "./launch.ts";
import { createOrphanGuard, type OrphanGuard } from "./orphan-guard.ts";
import { type ReadyProgram, ReadyPrograms, toKey } from "./ready-programs.ts";
import { startProgram } from "./run-program.ts";
import type {
  Egress,
  Sandbox,
  SandboxMode,
  SandboxResult,
  SandboxSpec,
  StandingProgram,
  StandingSpec,
} from "./sandbox.ts";
import { toStandingProgram } from "./standing-program.ts";

export interface SandboxOptions {
  /** Default `auto`. */
  readonly mode?: SandboxMode;
  /** The folders in which bwrap, setpriv, prlimit, env and sh are looked for. Default: PATH, then the usual ones. */
  readonly searchPath?: string;
  /** Default true: use control groups where this process may make some. */
  readonly controlGroups?: boolean;
  /** Where programs that may use the network are let out. Default: nowhere. */
  readonly egress?: Egress;
  /** How many programs that wait for their input may stand ready in bwrap. Default 0. */
  readonly ready?: number;
}

const USUAL_FOLDERS = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/** Looks once, at the first program, at what this machine can do. Holds nothing open between programs but a guard. */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  let opened: Promise<Workshop> | undefined;
  return {
    async runSandboxed(spec, signal) {
      opened ??= openWorkshop(options);
      const { found, ready, ...parts } = await opened;
      if (found.confinement === undefined) return toUnstarted({ type: "refused", ...found.refusal });
      if (signal.aborted) return toUnstarted({ type: "aborted" });
      const { confinement } = found;
      const isKept = spec.waitsForInput === true && confinement.kind === "bwrap";
      const key = isKept ? toKey(spec) : "";
      const started = (isKept ? ready.take(key) : undefined) ?? (await startIn({ ...parts, confinement }, spec));
      // The next one starts while this one works.
      if (isKept) ready.used(key, spec);
      const result = "reason" in started ? toUnstarted(toNotStarted(started)) : await started.run(spec, signal);
      return found.warning === undefined ? result : { ...result, warning: found.warning };
    },
    async prepareStanding(spec) {
      opened ??= openWorkshop(options);
      const { found, ...parts } = await opened;
      if (found.confinement === undefined) return { refused: found.refusal };
      return found.confinement.kind === "bwrap" ? prepareIn(parts, found.confinement, spec) : undefined;
    },
    close() {
      opened?.then(({ ready }) => ready.close()).catch(() => undefined);
    },
  };
}

interface Parts {
  readonly tools: Tools;
  readonly brands: Brands;
  readonly groups: ControlGroups | undefined;
  readonly guard: OrphanGuard;
  /** The beginning of the paths of temporary folders. */
  readonly temporary: string;
  /** The socket that leads a program out, if it may use the network and there is a way. */
  readonly openEgress: (spec: Pick<SandboxSpec, "network" | "reach">) => Promise<string | undefined>;
  /** Whether bwrap makes user namespaces here, also for root. */
  readonly hasNamespaces: () => Promise<boolean>;
}

interface Workshop extends Parts {
  readonly found: Found;
  readonly ready: ReadyPrograms<Started>;
}

async function openWorkshop({
  mode = "auto",
  searchPath,
  controlGroups = true,
  egress,
  ready: max = 0,
}: SandboxOptions): Promise<Workshop> {
  const tools = findTools(searchPath ?? `${process.env["PATH"] ?? ""}:${USUAL_FOLDERS}`);
  const brands = createBrands();
  const groups = controlGroups ? await findControlGroups(tools.sh, brands.prefix) : undefined;
  const temporary = join(tmpdir(), `pawl-code-${brands.prefix}-`);
  const guard = createOrphanGuard({
    sh: tools.sh,
    prefix: brands.prefix,
    groupParents: groups?.parents ?? [],
    temporary,
  });
  const ways = new Map<string, Promise<string>>();
  const openEgress: Parts["openEgress"] = async ({ network, reach = [] }) => {
    if (network !== true || egress === undefined) return undefined;
    const key = writeExact(reach);
    // The guard removes the folder after us.
    const way = ways.get(key) ?? egress.open(mkdtempSync(temporary), reach);
    ways.set(key, way);
    return way;
  };
  let tried: Promise<Found> | undefined;
  const hasNamespaces = async () => {
    // Without setpriv there is no other way.
    tried ??= chooseConfinement("required", { ...tools, setpriv: undefined }, attempt);
    return (await tried).confinement !== undefined;
  };
  const parts = { tools, brands, groups, guard, temporary, openEgress, hasNamespaces };
  const attempt = async (confinement: Confinement, spec: SandboxSpec) => {
    const started = await startIn({ ...parts, confinement }, spec);
    if ("reason" in started) return toUnstarted(toNotStarted(started));
    return started.run(spec, new AbortController().signal);
  };
  const found = await chooseConfinement(mode, tools, attempt);
  const ready = new ReadyPrograms<Started>({
    max,
    async start(spec) {
      if (found.confinement === undefined) return undefined;
      const started = await startIn({ ...parts, confinement: found.confinement }, spec);
      if ("reason" in started) return undefined;
      started.keepAlive(false);
      return started;
    },
  });
  return { ...parts, found, ready };
}

const FILE_BYTES_OF_STANDING = 1024 ** 3;

async function prepareIn(parts: Parts, tried: Bwrap, spec: StandingSpec): Promise<StandingProgram> {
  const { tools, guard, groups, brands, temporary } = parts;
  guard.stand();
  const egress = await parts.openEgress(spec);
  const asked = { ...spec.limits, timeoutMs: 0, maxOutputBytes: 0, fileBytes: FILE_BYTES_OF_STANDING };
  const limits = egress === undefined ? asked : withBridge(asked);
  // In a folder that it may change, what it makes is ours: only in a user namespace is its user ours outside.
  const writes = (spec.visible ?? []).some(({ kind }) => kind === "writable");
  const confinement = writes && (await parts.hasNamespaces()) ? ({ kind: "bwrap", user: "namespace" } as const) : tried;
  const { hasTerminal = false } = spec;
  const name = brands.next();
  const brand = hasTerminal || tools.prlimit === undefined ? undefined : name;
  const group = groups?.open(`pawl-${name}`, {
    memoryBytes: limits.memoryBytes,
    maxTasks: limits.maxProcesses + TASKS_BEYOND_LIMIT + TASKS_OF_BWRAP,
  });
  const launch = toLaunch({
    confinement,
    tools,
    spec: { ...spec, limits },
    temporary: "/tmp",
    user: undefined,
    egress,
    hasTerminal,
    brand,
  });
  return toStandingProgram({ launch, sh: tools.sh ?? "/bin/sh", group, limits, temporary, brand });
}

type Bwrap = Extract<Confinement, { kind: "bwrap" }>;

/** A program that has begun, with all that was made for it. */
interface Started extends ReadyProgram {
  run(spec: SandboxSpec, signal: AbortSignal): Promise<SandboxResult>;
  keepAlive(keeps: boolean): void;
}

async function startIn(
  { confinement: wanted, ...parts }: Parts & { readonly confinement: Confinement },
  asked: SandboxSpec,
): Promise<Started | { readonly reason: string }> {
  const egress = wanted.kind === "bwrap" ? await parts.openEgress(asked) : undefined;
  const bridged = (spec: SandboxSpec) => (egress === undefined ? spec : { ...spec, limits: withBridge(spec.limits) });
  const spec = bridged(asked);
  const { tools, brands, groups, guard } = parts;
  guard.stand();
  const brand = brands.next();
  const confinement = fitToFiles(wanted, spec);
  const group = groups?.open(`pawl-${brand}`, {
    memoryBytes: spec.limits.memoryBytes,
    maxTasks: spec.limits.maxProcesses + TASKS_BEYOND_LIMIT + TASKS_OF_BWRAP,
  });
  const temporary = confinement.kind === "process" ? makeTemporary(parts.temporary, confinement) : undefined;
  const clean = async () => {
    // Its counters have been read; that it goes is not worth waiting for.
    group?.remove().catch(() => undefined);
    if (temporary !== undefined) await rm(temporary.path, { recursive: true, force: true }).catch(() => undefined);
  };
  try {
    const launch = toLaunch({
      confinement,
      tools,
      spec,
      brand,
      temporary: temporary?.path ?? "/tmp",
      egress,
      user: temporary?.user,
    });
    const program = await startProgram({ launch, spec, group, brand: tools.prlimit === undefined ? undefined : brand });
    if ("reason" in program) {
      await clean();
      return program;
    }
    return {
      isWaiting: program.isAlive,
      keepAlive: program.keepAlive,
      end() {
        program.kill();
        void clean();
      },
      async run(called, signal) {
        program.keepAlive(true);
        try {
          return await program.finish(bridged(called), signal);
        } finally {
          await clean();
        }
      },
    };
  } catch (error) {
    await clean();
    throw error;
  }
}

/** Without the right to read root's files, a user of its own helps only where every user may read them. */
function fitToFiles(wanted: Confinement, spec: SandboxSpec): Confinement {
  if (wanted.kind !== "process" || wanted.user !== "dropped") return wanted;
  const paths = (spec.visible ?? []).map(({ path }) => path);
  return areOpenToOthers([spec.command, spec.cwd ?? "/", ...paths]) ? wanted : { ...wanted, user: "same" };
}

function makeTemporary(prefix: string, { user }: Extract<Confinement, { kind: "process" }>) {
  const path = mkdtempSync(prefix);
  const own = user === "same" ? undefined : chooseUser();
  if (own !== undefined) chownSync(path, own, own);
  return { path, user: own };
}

function toNotStarted({ reason }: { readonly reason: string }): SandboxResult["ending"] {
  return { type: "notStarted", reason };
}

function toUnstarted(ending: SandboxResult["ending"]): SandboxResult {
  const nothing = Buffer.alloc(0);
  return { kind: "process", ending, stdout: nothing, stderr: nothing, result: nothing, durationMs: 0 };
}

// Bits of a file's mode: the rights of users who are neither its owner nor in its group.
const READ = 0o4;
const ENTER = 0o1;

/** Whether every path can be reached and read by a user that owns nothing. What does not exist does not count. */
function areOpenToOthers(paths: readonly string[]): boolean {
  return paths.every((path) => !path.startsWith("/") || (allows(path, READ) && ancestorsOf(path).every(isEnterable)));
}

function ancestorsOf(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...ancestorsOf(parent)];
}

function isEnterable(folder: string): boolean {
  return allows(folder, ENTER);
}

function allows(path: string, right: number): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined || (found.mode & right) === right;
}
