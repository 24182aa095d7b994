import { realpath } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { ProcessWay } from "../../executors/mcp-servers/resolve-server.ts";
import type { Refusal } from "../../executors/sandbox/explain-refusal.ts";
import type {
  Sandbox,
  SandboxLimits,
  StandingProgram,
  StandingSpec,
  Visible,
} from "../../executors/sandbox/sandbox.ts";
import type { ConfinedProgram } from "../../executors/terminal/terminal-options.ts";

interface Place {
  readonly limits: Pick<SandboxLimits, "memoryBytes" | "maxProcesses">;
  readonly dataDir: string;
}

/** Node starts as many before a server has done anything. */
const THREADS_OF_SERVER = 32;

/**
 * Puts an MCP server of a definition into the sandbox. It sees the system, our Node, and the folder of its definition without what may hold
 * keys. Undefined: the sandbox is off, or is not to be had and need not be. Throws `SANDBOX_MISSING`.
 */
export async function confineServer(
  sandbox: Sandbox,
  { command, args, env, cwd, confinedTo, reach }: ProcessWay,
  place: Place,
): Promise<StandingProgram | undefined> {
  const folder = typeof confinedTo === "string" ? await realpath(confinedTo) : undefined;
  const isInside = folder !== undefined && `${cwd}/`.startsWith(`${folder}/`);
  const prepared = await prepare(sandbox, place, {
    command,
    args,
    env: { PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`, ...env },
    cwd: isInside ? cwd : "/tmp",
    visible: [
      { kind: "path", path: process.execPath },
      ...(folder === undefined ? [] : [shown(folder), hidden(place)]),
    ],
    reach,
  });
  if (prepared === undefined || !("refused" in prepared)) return prepared;
  const message = `There is no sandbox for a server that a definition names (${toText(prepared.refused)}).`;
  throw new PawlError("SANDBOX_MISSING", { message });
}

/**
 * Puts the program of a terminal into the sandbox. It sees the folder as scripts do, and may change what the operator lists of it, `writable`.
 * Throws `CONFIG_INVALID`, `SANDBOX_MISSING`.
 */
export async function confineTerminal(
  sandbox: Sandbox,
  { folder, ...program }: ConfinedProgram,
  { writable, ...place }: Place & { readonly writable: readonly string[] },
): Promise<StandingProgram> {
  const changed = await Promise.all(
    writable.map((path) => realpath(resolve(folder, path)).catch(() => resolve(folder, path))),
  );
  const outside = changed.find((path) => !path.startsWith(`${folder}/`));
  if (outside !== undefined) {
    const message = `\`terminal.sandbox_folders\` has ${outside}, which does not lie below ${folder}.`;
    throw new PawlError("CONFIG_INVALID", { message });
  }
  const prepared = await prepare(sandbox, place, {
    ...program,
    visible: [shown(folder), ...changed.map((path) => ({ kind: "writable", path }) as const), hidden(place)],
    hasTerminal: true,
  });
  if (prepared !== undefined && !("refused" in prepared)) return prepared;
  const reason =
    prepared === undefined ? "it is switched off by `code.sandbox`, or not installed" : toText(prepared.refused);
  throw new PawlError("SANDBOX_MISSING", { message: `There is no sandbox for the terminal (${reason}).` });
}

export function toText({ reason, remedy }: Refusal): string {
  return `${reason}. ${remedy}`;
}

function prepare(
  sandbox: Sandbox,
  { limits: { memoryBytes, maxProcesses } }: Place,
  spec: Omit<StandingSpec, "network" | "limits">,
) {
  const limits = { memoryBytes, maxProcesses: maxProcesses + THREADS_OF_SERVER };
  return sandbox.prepareStanding({ ...spec, network: true, limits });
}

/** Without what may hold keys. */
function shown(folder: string): Visible {
  return { kind: "entries", path: folder, without: ["pawl.yaml", "agents.json"] };
}

function hidden({ dataDir }: Place): Visible {
  return { kind: "hidden", path: dataDir };
}
