import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StorageThread } from "../../src/app/storage-thread/storage-thread.ts";
import type { Graph } from "../../src/core/graph/graph.ts";
import type { LocalHost } from "../../src/hosts/local/local-host.ts";
import type { Journal } from "../../src/ports/journal.ts";
import { openSqliteJournal } from "../../src/storage/sqlite/sqlite-journal.ts";
import { openNoOpHost } from "./no-op-host.ts";
import { RawSqlite } from "./raw-sqlite.ts";

/** A folder with a journal, a host over it and the floor beside it, at `durability: power`. */
export interface Workbench {
  readonly folder: string;
  readonly journal: Journal;
  readonly host: LocalHost;
  readonly raw: RawSqlite;
  run(graph: Graph): Promise<string>;
  close(): Promise<void>;
}

/** `inThread`: written as a server writes. */
export async function openWorkbench(options: { outputBytes?: number; inThread?: boolean } = {}): Promise<Workbench> {
  const folder = mkdtempSync(join(tmpdir(), "pawl-bench-"));
  const durability = "power";
  const path = join(folder, "pawl.db");
  const inner = openSqliteJournal({ path, durability });
  const others = { service: join(folder, "service.db"), conversations: join(folder, "conversations.db") };
  const thread = options.inThread === true ? new StorageThread({ journal: path, ...others, durability }) : undefined;
  const journal = thread?.journal(inner) ?? inner;
  const raw = new RawSqlite(join(folder, "raw.db"));
  const host = openNoOpHost(journal, options.outputBytes);
  return {
    folder,
    journal,
    host,
    raw,
    async run(graph) {
      const { id } = await host.startRun({ definition: { text: "", graph }, input: graph.input.defaults });
      const { status } = await host.settled(id);
      if (status !== "completed") throw new Error(`${graph.name} ended as ${status}.`);
      return id;
    },
    async close() {
      await journal.close();
      raw.close();
      rmSync(folder, { recursive: true });
    },
  };
}
