import { expect, test } from "vitest";
import { fanOut, items, sandstormWorld } from "./capacity-world.ts";

test("200 items on a server with 20 places all complete, though no step is retried", async () => {
  const { world, places } = await sandstormWorld({ holdMs: 30 });
  const run = await world.run(await fanOut(), items(200));
  console.log(
    run.error,
    world.defects,
    (await world.eventsOf(run.id)).filter((e) => e.type === "stepFailed").slice(0, 2),
  );

  expect(run.status).toBe("completed");
  expect(places.taken.length).toBe(200);
  expect(await failuresOf(world, run.id)).toBe(0);
});

test("500 items on 20 places take at most 1.15 times the ideal 25 waves, and at most 5 % of the calls are refused", async () => {
  const holdMs = 400;
  const { world, places } = await sandstormWorld({ holdMs });
  const begin = performance.now();
  const run = await world.run(await fanOut(), items(500));
  const waves = (performance.now() - begin) / holdMs;
  console.log(waves, places.share, places.most);

  expect(run.status).toBe("completed");
  expect(places.taken.length).toBe(500);
  expect(places.share).toBeLessThanOrEqual(0.05);
  expect(waves).toBeLessThan(25 * 1.15);
});

async function failuresOf(world: Awaited<ReturnType<typeof sandstormWorld>>["world"], runId: string): Promise<number> {
  return (await world.typesOf(runId)).filter((type) => type === "stepFailed").length;
}
