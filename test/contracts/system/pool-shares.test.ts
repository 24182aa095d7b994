import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { PoolShares } from "../../../src/ports/pool-shares.ts";
import { readDatabaseUrl } from "../../../src/storage/postgres/database-address.ts";
import { createPoolShares } from "../../../src/storage/postgres/pool-shares.ts";
import { PostgresDatabase } from "../../../src/storage/postgres/postgres-database.ts";
import { Random } from "../../simulation/random.ts";
import { newTestDatabase } from "../../support/test-database.ts";

async function openSome(count: number): Promise<readonly PoolShares[]> {
  const address = readDatabaseUrl(await newTestDatabase());
  return Array.from({ length: count }, () => {
    const database = new PostgresDatabase({ address, connections: 2 });
    onTestFinished(() => database.close());
    return createPoolShares(database);
  });
}

const use = (inFlight: number, waiting: number, max = 5) => {
  return { name: "p", max, inFlight, waiting };
};

test("processes that ask at the same time never have more places than there are, and none waits for ever", async () => {
  const processes = await openSome(4);
  const had = processes.map(() => 0);
  const turns = processes.map(() => 0);
  let most = 0;
  await Promise.all(
    processes.map(async (shares, index) => {
      const random = new Random(index + 1);
      for (let round = 0; round < 60; round += 1) {
        const inFlight = random.int(0, had[index] ?? 0);
        const waiting = random.int(0, 7);
        // From here on the process uses no more than it tells.
        had[index] = inFlight;
        const [share] = await shares.exchange([use(inFlight, waiting)]);
        had[index] = share?.places ?? 0;
        if (had[index] > 0) turns[index] = (turns[index] ?? 0) + 1;
        most = Math.max(
          most,
          had.reduce((all, places) => all + places, 0),
        );
        await setTimeout(random.int(0, 4));
      }
    }),
  );
  expect(most).toBe(5);
  for (const count of turns) expect(count).toBeGreaterThan(5);
});

test("what a process tells reaches the others, and what it gives back is theirs at once", async () => {
  const [one, other] = await openSome(2);
  expect(await one?.exchange([use(0, 9)])).toMatchObject([{ places: 5 }]);
  const told = [{ places: 0, elsewhere: 5, wanting: 1 }];
  await one?.exchange([use(5, 4)]);
  expect(await other?.exchange([use(0, 2)])).toMatchObject(told);
  expect(await one?.exchange([use(4, 4)])).toMatchObject([{ places: 4 }]);
  expect(await other?.exchange([use(0, 2)])).toMatchObject([{ places: 1, elsewhere: 4 }]);
  await one?.exchange([use(0, 0)]);
  expect(await other?.exchange([use(1, 9)])).toMatchObject([{ places: 5, elsewhere: 0 }]);
});

test("a pool may have any name", async () => {
  const [one, other] = await openSome(2);
  const name = "openai:a\0b \u{10FFFE} '\"";
  expect(await one?.exchange([{ ...use(0, 9), name }])).toMatchObject([{ name, places: 5 }]);
  expect(await other?.exchange([{ ...use(0, 9), name }])).toMatchObject([{ name, places: 0 }]);
});
