import { setTimeout } from "node:timers/promises";
import type { Executor } from "../../src/ports/executor.ts";
import { openHost, register } from "../../test/restate/open-host.ts";
import { findFreePort } from "../../test/support/free-port.ts";
import { median } from "../support/compare.ts";
import { sequence } from "../support/no-op-host.ts";
import type { Places } from "./peer.ts";

/** Longer than any pause after which Restate tries again. */
const AWAY_MS = 2_000;

/** From opening the endpoint anew to the next step of a run that has so many finished ones, one after the other. Restate has to notice it. */
export async function timeRestateRecovery(places: Places, count: number, rounds: number): Promise<number> {
  const { ingress, admin } = places.restate;
  const port = await findFreePort();
  const place = { folder: places.folder, port, ingressUrl: ingress, adminUrl: admin };
  let reached = Promise.withResolvers<void>();
  const last = `s${count}`;
  const executor: Executor = {
    recordsInput: false,
    async run({ stepId }, signal) {
      if (stepId !== last) return { status: "succeeded", output: true, costMicro: 0 };
      reached.resolve();
      await setTimeout(3_600_000, undefined, { signal });
      throw new Error("It was not stopped.");
    },
  };
  let opened = await openHost(place, executor);
  await register(place, port);
  const graph = sequence(count + 1);
  await opened.host.startRun({ definition: { text: "", graph }, input: graph.input.defaults });
  await reached.promise;
  const took: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    await opened.close();
    await setTimeout(AWAY_MS);
    reached = Promise.withResolvers();
    const startedAt = performance.now();
    opened = await openHost(place, executor);
    await reached.promise;
    if (round > 0) took.push(performance.now() - startedAt);
  }
  await opened.close();
  return median(took);
}
