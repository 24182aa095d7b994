import { explainRefusal, type Refusal } from "./explain-refusal.ts";
import type { Tools } from "./find-tools.ts";
import type { SandboxMode, SandboxResult, SandboxSpec } from "./sandbox.ts";

/** How a program is held: which of the system's programs go before it, and who it runs as. */
export type Confinement =
  | {
      readonly kind: "bwrap";
      /** `dropped`: set up by root, run as a user of its own. `namespace`: everything in a user namespace. */
      readonly user: "dropped" | "namespace";
    }
  | {
      readonly kind: "process";
      /** `reading`: a user of its own that may read what we may. `same`: ours. */
      readonly user: "reading" | "dropped" | "same";
      /** `setpriv` is there and ends the program with us. */
      readonly diesWithParent: boolean;
    };

export type Found =
  | { readonly confinement: Confinement; readonly warning?: string }
  /** None that is good enough. */
  | { readonly confinement: undefined; readonly refusal: Refusal; readonly warning?: string };

type Attempt = (confinement: Confinement, spec: SandboxSpec) => Promise<SandboxResult>;

const TRIAL: SandboxSpec = {
  command: "true",
  args: [],
  limits: { timeoutMs: 10_000, memoryBytes: 64 * 1024 * 1024, maxOutputBytes: 4_096, maxProcesses: 8 },
};

/** The first way to hold programs that works on this machine: each is tried with a program that does nothing. */
export async function chooseConfinement(mode: SandboxMode, tools: Tools, attempt: Attempt): Promise<Found> {
  if (mode === "off") return { confinement: await choosePlain(tools, attempt) };
  const printed: string[] = [];
  for (const confinement of bwrapWays(tools)) {
    const failure = await tryOut(confinement, attempt);
    if (failure === undefined) return { confinement };
    printed.push(failure);
  }
  const refusal = explainRefusal([...new Set(printed)].join("; "));
  if (mode === "required") return { confinement: undefined, refusal };
  return { confinement: await choosePlain(tools, attempt), warning: toWarning(refusal) };
}

function bwrapWays({ bwrap, setpriv }: Tools): Confinement[] {
  if (bwrap === undefined) return [];
  const canDrop = process.getuid?.() === 0 && setpriv !== undefined;
  return [...(canDrop ? [{ kind: "bwrap", user: "dropped" } as const] : []), { kind: "bwrap", user: "namespace" }];
}

async function choosePlain(tools: Tools, attempt: Attempt): Promise<Confinement> {
  const users = process.getuid?.() === 0 ? (["reading", "dropped", "same"] as const) : (["same"] as const);
  for (const user of tools.setpriv === undefined ? [] : users) {
    const confinement: Confinement = { kind: "process", user, diesWithParent: true };
    if ((await tryOut(confinement, attempt)) === undefined) return confinement;
  }
  return { kind: "process", user: "same", diesWithParent: false };
}

/** Why it does not work. */
async function tryOut(confinement: Confinement, attempt: Attempt): Promise<string | undefined> {
  const { ending, stderr } = await attempt(confinement, TRIAL);
  if (ending.type === "exited" && ending.code === 0) return undefined;
  if (ending.type === "notStarted") return ending.reason;
  return stderr.toString("utf8").trim() || `a trial ended as ${ending.type}`;
}

function toWarning({ reason }: Refusal): string {
  return `There is no sandbox (${reason}): the program can read the files of this machine and use its network.`;
}
