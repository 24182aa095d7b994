import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SystemClock } from "../../src/app/system-clock.ts";
import { PawlError } from "../../src/core/errors/pawl-error.ts";
import type { Graph } from "../../src/core/graph/graph.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { LocalHost } from "../../src/hosts/local/local-host.ts";
import type { LocalHostOptions } from "../../src/hosts/local/local-host-options.ts";
import { holdsSteps, type Journal, type RunRecord } from "../../src/ports/journal.ts";
import { FileBlobs } from "../../src/storage/files/file-blobs.ts";
import { LocalFileStorage } from "../../src/storage/files/local-file-storage.ts";
import { acquireOwnerLock } from "../../src/storage/sqlite/owner-lock.ts";
import { openSqliteJournal } from "../../src/storage/sqlite/sqlite-journal.ts";
import { crashingJournal, type Reached } from "./crashing-journal.ts";
import {
  APPROVAL,
  childWorkflow,
  killer,
  ScriptedExecutor,
  SIGNAL,
  type SideEffect,
  WORKLOAD_INPUT,
  workload,
} from "./workload.ts";

export interface Owner {
  readonly host: LocalHost;
  readonly journal: Journal;
  readonly defects: unknown[];
  commits(): number;
  close(): Promise<void>;
}

export interface OwnerOptions {
  /** One event a commit, and told of each of them. Absent: commits as the host makes them. */
  readonly reached?: Reached;
  readonly durability?: "power" | "process";
  readonly maxPages?: number;
  readonly host?: Partial<LocalHostOptions>;
}

/** Becomes the owner of a data directory as the program does. Throws `DATA_LOCKED` where another process is. */
export function openOwner(dataDir: string, options: OwnerOptions = {}): Owner {
  const { reached, durability = "power", maxPages } = options;
  const lock = acquireOwnerLock(dataDir, { pid: process.pid, host: "test", socket: "none" });
  if (!lock.acquired) {
    throw new PawlError("DATA_LOCKED", { message: `Process ${lock.heldBy?.pid ?? "?"} owns ${dataDir}.` });
  }
  const executor = new ScriptedExecutor(join(dataDir, "effects.jsonl"));
  const defects: unknown[] = [];
  try {
    const sqlite = openSqliteJournal({
      path: join(dataDir, "pawl.db"),
      durability,
      ...(maxPages === undefined ? {} : { maxPages }),
    });
    const { journal, commits } =
      reached === undefined ? { journal: sqlite, commits: () => 0 } : crashingJournal(sqlite, reached);
    const host = new LocalHost({
      journal,
      blobs: new FileBlobs(join(dataDir, "blobs")),
      files: new LocalFileStorage(join(dataDir, "storage")),
      clock: new SystemClock(),
      previousSeenAt: lock.previousSeenAt,
      findExecutor: async () => executor,
      resolveCall: async ({ input }) => ({
        definition: { text: "child", graph: childWorkflow() },
        input: input as JsonObject,
      }),
      mask: (unmasked) => unmasked,
      env: () => undefined,
      onDefect: (error) => defects.push(error),
      ...options.host,
    });
    const close = async () => {
      await host.park(AbortSignal.abort());
      await sqlite.close();
      executor.close();
      lock.release();
    };
    return { host, journal: sqlite, defects, commits, close };
  } catch (error) {
    executor.close();
    lock.release();
    throw error;
  }
}

/**
 * Takes up what was left, starts what was not yet there, answers what is asked, and goes on until all have ended or are held. A run
 * whose id begins with `killer` takes the process down.
 */
export async function driveAll(owner: Owner, runIds: readonly string[]): Promise<readonly RunRecord[]> {
  const graphs = { workload: workload(), killer: killer() };
  await owner.host.recover();
  return Promise.all(
    runIds.map(async (runId) => {
      const graph: Graph = runId.startsWith("killer") ? graphs.killer : graphs.workload;
      if ((await owner.journal.findRun(runId)) === undefined) {
        await owner.host.startRun({ runId, definition: { text: graph.name, graph }, input: WORKLOAD_INPUT });
      }
      return driveToEnd(owner, runId);
    }),
  );
}

const MAX_ROUNDS = 20;

async function driveToEnd({ host, journal }: Owner, runId: string): Promise<RunRecord> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const record = await host.settled(runId);
    if (record.completedAt !== undefined || holdsSteps(record)) return record;
    const rows = await journal.readEvents(record.no, { afterSeq: 0, limit: 10_000 });
    const types = new Set(rows.map(({ event }) => event.type));
    if (!types.has("signalReceived"))
      await host.request(runId, { type: "signal", name: SIGNAL, payload: { hello: "there" } });
    if (types.has("approvalAsked") && !types.has("approvalAnswered")) {
      await host.request(runId, {
        type: "answer",
        path: APPROVAL,
        answer: { answer: "approve", by: "ann", edited: "edited by hand" },
      });
    }
  }
  throw new Error(`${runId} does not end.`);
}

export function readEffects(dataDir: string): readonly SideEffect[] {
  const lines = readFileSync(join(dataDir, "effects.jsonl"), "utf8").split("\n");
  // A death while writing leaves half a line at most: that execution had not begun.
  return lines.filter((line) => line.endsWith("}")).map((line) => JSON.parse(line) as SideEffect);
}
