// A tenant that only wants its list of runs, in a thread of its own: what its attacker does in this process delays nothing here.
import { setTimeout as wait } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";

const PAUSE_MS = 5;

const { url, key } = workerData as { readonly url: string; readonly key: string };
const took: number[] = [];
let lost = 0;
let isOver = false;
parentPort?.once("message", () => {
  isOver = true;
});
while (!isOver) {
  const began = performance.now();
  const status = await fetch(`${url}/runs?limit=1`, { headers: { "x-api-key": key } }).then(
    async (response) => (await response.text()) && response.status,
    () => 0,
  );
  took.push(performance.now() - began);
  if (status !== 200) lost += 1;
  await wait(PAUSE_MS);
}
took.sort((a, b) => a - b);
parentPort?.postMessage({
  p99: Math.round(took[Math.floor(took.length * 0.99)] ?? 0),
  worst: Math.round(took.at(-1) ?? 0),
  lost,
});
