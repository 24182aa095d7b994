import { appendFileSync } from "node:fs";
import { z } from "zod";
import { each, eq, fail, loop, openPawl, run, text, wait, when, workflow } from "../../src/embed/pawl.ts";

// Programs that a test kills: orders that end well or are undone, batches in rounds. Each call of a function is noted, at its beginning and its end.

const [, , data = "", notes = "", orders = "10"] = process.argv;

async function noted<T>(what: string, work: () => T): Promise<T> {
  appendFileSync(notes, `begin ${what}\n`);
  await new Promise((resolve) => setTimeout(resolve, 15));
  const made = work();
  appendFileSync(notes, `end ${what}\n`);
  return made;
}

const order = workflow("order", { input: z.object({ id: z.number() }) }, ({ input }) => {
  const { id } = input;
  const stock = run("reserve", { id }, ({ id }) => noted(`${id} reserve`, () => ({ id })), {
    undo: (made) => run("restock", { id: made.id }, ({ id }) => noted(`${id} restock`, () => null)),
  });
  const list = run("list", { id }, ({ id }) => noted(`${id} list`, () => ["a", "b", "c"]));
  const items = each(list, (item, index) =>
    run("pack", { id, item, index }, ({ id, index }) => noted(`${id} pack-${index}`, () => index)),
  );
  const paid = run("charge", { stock, items }, ({ stock }) => noted(`${stock.id} charge`, () => ({ id: stock.id })), {
    undo: (made) => run("refund", { id: made.id }, ({ id }) => noted(`${id} refund`, () => null)),
  });
  const rounds = loop("rounds", { max: 3, first: 0 }, (was) => {
    const next = run("round", { id, was, paid }, ({ id, was }) => noted(`${id} round-${was}`, () => was + 1));
    return { next, done: eq(next, 3) };
  });
  wait("pause", "50ms", { after: [rounds] });
  const isOdd = run("odd", { id }, ({ id }) => noted(`${id} odd`, () => id % 2 === 1));
  when(isOdd, () => fail("refuse", { code: "ODD", message: text`Order ${id} is odd.` }));
  return rounds;
});

const pawl = await openPawl({ data, workflows: [order] });
const runs = await Promise.all(
  Array.from({ length: Number(orders) }, (_, id) => pawl.start(order, { id }, { idempotencyKey: `order-${id}` })),
);
const ends = await Promise.all(runs.map((each) => each.result().then(String, (error) => error.code)));
console.log(`ended ${ends.join(" ")}`);
await pawl.close();
