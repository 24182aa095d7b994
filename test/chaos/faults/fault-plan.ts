import { Random } from "../../simulation/random.ts";
import type { Role } from "../cluster/pawl-process.ts";
import type { CutSide } from "../cluster/postgres-way.ts";

/** A fault as it is drawn: the same seed and topology, the same faults at the same times. */
export type Fault =
  /** `kill -9`, and a new start a little later. `clockOffsetMs`: what the clock of the new process is ahead. */
  | { readonly kind: "kill"; readonly process: string; readonly restartMs: number; readonly clockOffsetMs: number }
  /** SIGSTOP, and SIGCONT when others have taken over, or before. */
  | { readonly kind: "freeze"; readonly process: string; readonly forMs: number }
  /** PostgreSQL ends at once (immediate mode) and comes back. */
  | { readonly kind: "postgres"; readonly forMs: number }
  /** No table takes another row, or another version of one: what a full disk says, while the logs still find room. */
  | { readonly kind: "full"; readonly forMs: number }
  /** A connection is cut after so many packets, before the request or before its answer, several times. */
  | { readonly kind: "cut"; readonly process: string; readonly cuts: readonly { after: number; side: CutSide }[] }
  | { readonly kind: "cut-all"; readonly process: string }
  | { readonly kind: "store"; readonly how: StoreFault; readonly forMs: number }
  /** Redis forgets everything, or dies and comes back. */
  | { readonly kind: "redis-flush" }
  | { readonly kind: "redis-kill"; readonly forMs: number }
  /** Jobs that are told twice, and for nothing. */
  | { readonly kind: "notify"; readonly times: number }
  /** A process is told to end (SIGTERM) and started again. A rolling restart does so with each, one after the other. */
  | { readonly kind: "restart"; readonly process: string };

export type StoreFault = "500" | "slow" | "404 after a write" | "no answer" | "answer lost";
export type FaultKind = Fault["kind"];

export interface PlannedFault {
  /** Since the begin of the run. */
  readonly atMs: number;
  readonly fault: Fault;
}

export interface PlanOptions {
  readonly seed: number;
  readonly durationMs: number;
  readonly leaseMs: number;
  readonly processes: readonly { readonly name: string; readonly role: Role }[];
  readonly kinds: readonly FaultKind[];
}

/** How often a kind comes, beside the others. */
const WEIGHTS: Readonly<Record<FaultKind, number>> = {
  kill: 6,
  freeze: 3,
  postgres: 2,
  full: 2,
  cut: 4,
  "cut-all": 2,
  store: 4,
  "redis-flush": 1,
  "redis-kill": 2,
  notify: 2,
  restart: 1,
};

export const FAULT_KINDS = Object.keys(WEIGHTS) as readonly FaultKind[];

const FIRST_MS = 4_000;
const HOUR_MS = 3_600_000;

export function planFaults(options: PlanOptions): readonly PlannedFault[] {
  const random = new Random(options.seed);
  const bag = options.kinds.flatMap((kind) => Array.from({ length: WEIGHTS[kind] }, () => kind));
  const [first, ...others] = bag;
  const planned: PlannedFault[] = [];
  if (first === undefined) return planned;
  for (let atMs = FIRST_MS; atMs < options.durationMs; atMs += random.int(500, 6_000)) {
    const kind = random.pick([first, ...others]);
    if (kind !== "restart") planned.push({ atMs, fault: drawFault(kind, random, options) });
    // All at one time: each waits for the one before.
    else planned.push(...options.processes.map(({ name }) => ({ atMs, fault: { kind, process: name } })));
  }
  return planned;
}

function drawFault(kind: Exclude<FaultKind, "restart">, random: Random, { processes, leaseMs }: PlanOptions): Fault {
  const process = processes[random.int(0, processes.length - 1)]?.name ?? "";
  switch (kind) {
    case "kill": {
      const clockOffsetMs = random.chance(0.3) ? random.pick([-HOUR_MS, HOUR_MS]) : 0;
      return { kind, process, restartMs: random.int(0, 3_000), clockOffsetMs };
    }
    case "freeze":
      return { kind, process, forMs: random.chance(0.6) ? Math.round(leaseMs * 1.6) : random.int(200, 3_000) };
    case "postgres":
      return { kind, forMs: random.int(0, 4_000) };
    case "full":
      return { kind, forMs: random.int(1_000, 6_000) };
    case "cut": {
      const side = () => random.pick(["request", "answer"] as const);
      return {
        kind,
        process,
        cuts: Array.from({ length: random.int(1, 8) }, () => ({ after: random.int(1, 40), side: side() })),
      };
    }
    case "cut-all":
      return { kind, process };
    case "store": {
      const how = random.pick(["500", "slow", "404 after a write", "no answer", "answer lost"] as const);
      return { kind, how, forMs: random.int(1_000, 8_000) };
    }
    case "redis-flush":
      return { kind };
    case "redis-kill":
      return { kind, forMs: random.int(0, 5_000) };
    case "notify":
      return { kind, times: random.int(20, 300) };
  }
}
