import { appendFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { dag, task } from "../simulation/build.ts";
import { newGraph } from "../simulation/random-graph.ts";
import { type HostPlace, openHost } from "./open-host.ts";

/** `endpoint-child.ts PLACE EFFECTS [RUN LANES STEPS]`: an endpoint whose steps write what they do into a file. Starts the run, if one is named. */
const [place = "", effects = "", runId, lanes = "1", steps = "1"] = process.argv.slice(2);
const { host } = await openHost(JSON.parse(place) as HostPlace, {
  recordsInput: false,
  async run({ path, attempt }) {
    appendFileSync(effects, `${path} ${attempt}\n`);
    await setTimeout(1);
    return { status: "succeeded", output: path, costMicro: 0 };
  },
});
if (runId !== undefined) {
  const graph = newGraph("lanes", dag(...[...Array(Number(lanes)).keys()].flatMap((lane) => laneOf(lane))));
  await host.startRun({ runId, definition: { text: "", graph }, input: {} });
}
process.send?.("ready");

function laneOf(lane: number) {
  return Array.from({ length: Number(steps) }, (_, n) =>
    task(`l${lane}-${n}`, { after: n === 0 ? [] : [`l${lane}-${n - 1}`] }),
  );
}
