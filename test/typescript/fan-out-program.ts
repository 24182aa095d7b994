import { appendFileSync } from "node:fs";
import { z } from "zod";
import { agent, each, openPawl, run, text, workflow } from "../../src/embed/pawl.ts";

// A program that is killed: it notes each call of a function in a file, and says how its run has ended.
const [data = "", notes = "", count = "0"] = process.argv.slice(2);

const note = (line: string) => appendFileSync(notes, `${line}\n`);

const flow = workflow("fan-out", { input: z.object({ items: z.array(z.number()) }) }, ({ input }) => {
  const done = each(
    input.items,
    (item) => {
      const doubled = run("double", { item }, async ({ item }, { idempotencyKey }) => {
        note(`begin ${item} ${idempotencyKey}`);
        await new Promise((resolve) => setImmediate(resolve));
        note(`end ${item}`);
        return item * 2;
      });
      const said = agent("say", { prompt: text`Say ${doubled}`, model: "m", output: z.object({ word: z.string() }) });
      return { doubled, word: said.word };
    },
    { window: 4 },
  );
  return run("sum", { done }, ({ done }) => done.reduce((sum, { doubled }) => sum + doubled, 0));
});

const pawl = await openPawl({ data, workflows: [flow], agent: "simulated" });
const items = Array.from({ length: Number(count) }, (_, index) => index);
const started = await pawl.start(flow, { items }, { idempotencyKey: "once" });
process.stdout.write(`started ${started.id}\n`);
process.stdout.write(`ended ${await started.result()}\n`);
await pawl.close();
