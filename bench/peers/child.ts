import type { Answer, Asked, OpenPeer, Peer, Scenario } from "./peer.ts";

const RUNS = 1_000;
const IN_FLIGHT = 100;

/** `child.ts NAME PLACES`: opens one engine and does what it is asked. */
const [name = "", places = "{}"] = process.argv.slice(2);
const { open }: { readonly open: OpenPeer } = await import(`./engines/${name}.ts`);
const peer = await open(JSON.parse(places));

process.on("message", (asked: Asked) => {
  perform(asked).then(
    (answer) => process.send?.(answer),
    (error: unknown) => {
      console.error(name, error);
      process.exit(1);
    },
  );
});
process.send?.({ ready: true } satisfies Answer);

async function perform(asked: Asked): Promise<Answer> {
  if ("settings" in asked) return { settings: await peer.settings() };
  if ("close" in asked) {
    await Promise.race([peer.close(), new Promise((resolve) => setTimeout(resolve, 5_000))]);
    process.exit(0);
  }
  const startedAt = performance.now();
  const isDone = "steps" in asked ? await runOne(peer, asked.steps) : await play(peer, asked.scenario);
  return { ms: isDone ? performance.now() - startedAt : undefined };
}

async function play(engine: Peer, scenario: Scenario): Promise<boolean> {
  switch (scenario) {
    case "SEQ-500":
      return runOne(engine, 500);
    case "FAN-500":
      await engine.fanOut?.(500);
      return engine.fanOut !== undefined;
    case "1,000 runs x 4 steps":
      await runMany(engine);
      return true;
  }
}

async function runOne(engine: Peer, steps: number): Promise<true> {
  await engine.sequence(steps);
  return true;
}

async function runMany(engine: Peer): Promise<void> {
  let started = 0;
  const work = async () => {
    while (started < RUNS) {
      started += 1;
      await engine.sequence(4);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, work));
}
