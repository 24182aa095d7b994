import { createConnection, createServer, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { isStorageFailure } from "../../../src/core/errors/is-storage-failure.ts";
import type { Append, AppendResult, Journal } from "../../../src/ports/journal.ts";
import { Random } from "../../simulation/random.ts";
import { openTestJournal } from "../../support/open-test-journal.ts";
import { newTestDatabase } from "../../support/test-database.ts";
import { createRun, readPaths, readWholeLog, started } from "../journal-samples.ts";

/** A way to the server on which every so many packets, in either direction, all connections end. */
async function openWay(url: string, packets: () => number) {
  const socketFile = `${new URL(url).searchParams.get("host")}/.s.PGSQL.5432`;
  const open = new Set<Socket>();
  let left = packets();
  let isCutting = true;
  const passed = (from: Socket, to: Socket) => {
    from.on("data", (data) => {
      left -= 1;
      if (isCutting && left <= 0) {
        left = packets();
        for (const socket of open) socket.destroy();
        return;
      }
      to.write(data);
    });
    from.on("error", () => undefined);
    from.on("close", () => {
      open.delete(from);
      to.destroy();
    });
    open.add(from);
  };
  const proxy = createServer((client) => {
    const server = createConnection(socketFile);
    passed(client, server);
    passed(server, client);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    proxy.close();
  });
  const address = proxy.address();
  const port = typeof address === "object" ? address?.port : 0;
  const { pathname } = new URL(url);
  return {
    url: `postgresql://pawl@127.0.0.1:${port}${pathname}`,
    rest() {
      isCutting = false;
    },
  };
}

/** As the commit queue does it: the same batch under the same token, until somebody says what became of it. */
async function appendAtLast(
  journal: Journal,
  entries: readonly Append[],
  token: string,
): Promise<readonly AppendResult[]> {
  for (;;) {
    try {
      return await journal.append(entries, token);
    } catch (error) {
      if (!isStorageFailure(error)) throw error;
      await setTimeout(1);
    }
  }
}

test.each([1, 2, 3])(
  "connections that are cut anywhere lose no commit and double none (seed %i)",
  { timeout: 60_000 },
  async (seed) => {
    const random = new Random(seed);
    const url = await newTestDatabase();
    const direct = await openTestJournal(url);
    onTestFinished(() => direct.close());
    const way = await openWay(url, () => random.int(1, 40));
    let journal: Journal | undefined;
    while (journal === undefined) journal = await openTestJournal(way.url).catch(() => undefined);
    const used = journal;
    onTestFinished(async () => {
      way.rest();
      await used.close();
    });
    const runs: number[] = [];
    for (let n = 0; n < 3; n += 1) {
      const run = await direct.reserveRun();
      runs.push(run);
      const create = { id: `r${n}`, workflow: "w", dialect: "d", graph: "g", definition: "d", createdAt: 1 };
      expect(await appendAtLast(used, [{ run, afterSeq: 0, create, events: [] }], `create ${n}`)).toEqual([
        { ok: true },
      ]);
    }
    for (let seq = 0; seq < 100; seq += 1) {
      const entries = runs.map((run) => ({
        run,
        afterSeq: seq,
        events: [{ event: started(`${seq + 1}`) }],
        outbox: [{ kind: "storage", body: "{}" }],
      }));
      expect(await appendAtLast(used, entries, `batch ${seq}`)).toEqual(entries.map(() => ({ ok: true })));
    }
    way.rest();
    const paths = Array.from({ length: 100 }, (_, n) => `${n + 1}`);
    for (const run of runs) expect(await readPaths(direct, run)).toEqual(paths);
    expect(await direct.readOutbox({ limit: 1_000 })).toHaveLength(300);
    await expect.poll(async () => (await readWholeLog(direct, { limit: 50 })).length).toBe(300);
    expect(await createRun(direct, "after")).toBeGreaterThan(0);
  },
);
