import { OpenWorkflow } from "openworkflow";
import type { Peer } from "./peer.ts";

/** It looks for work and for results by the clock, once a second at the slowest. */
export async function openOpenWorkflow(
  backend: ConstructorParameters<typeof OpenWorkflow>[0]["backend"],
): Promise<Pick<Peer, "sequence" | "fanOut" | "close">> {
  const client = new OpenWorkflow({ backend });
  const sequence = client.defineWorkflow<number, number>({ name: "sequence" }, async ({ input, step }) => {
    for (let n = 0; n < input; n += 1) await step.run({ name: `s${n}` }, async () => true);
    return input;
  });
  const fanOut = client.defineWorkflow<number, number>({ name: "fanOut" }, async ({ input, step }) => {
    await Promise.all(Array.from({ length: input }, (_, n) => step.run({ name: `s${n}` }, async () => true)));
    await step.run({ name: "join" }, async () => true);
    return input;
  });
  const worker = client.newWorker({ concurrency: 100 });
  await worker.start();
  return {
    sequence: async (steps) => void (await (await sequence.run(steps)).result()),
    fanOut: async (steps) => void (await (await fanOut.run(steps)).result()),
    close: () => worker.stop(),
  };
}
