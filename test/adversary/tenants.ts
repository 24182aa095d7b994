import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { largeRun } from "../end-to-end/support/large-run.ts";
import type { Violation } from "./canaries.ts";
import type { Result } from "./parts.ts";
import { dataOf, type World } from "./world.ts";

/** What another tenant may be kept waiting. A machine that does other things at the same time is slow by itself. */
const MOST_MS = 600;
const PROBE = new URL("probe.ts", import.meta.url);

/** Attacks of one tenant on what all share: the event loop, the heap, and whatever there is a number of. */
function attacksOfOne(isWhole: boolean): Readonly<Record<string, (world: World) => Promise<unknown>>> {
  const copies = isWhole ? 1 : 4;
  const emptyObjects = `{"workflow":"hello","input":{"l":[${Array(333_000).fill("{}").join(",")}]}}`;
  const records = `{"workflow":"hello","input":{"l":[${Array(60_000).fill('{"n":1,"t":"a"}').join(",")}]}}`;
  const send = (world: World, count: number, body: string) =>
    Promise.all(Array.from({ length: count }, () => world.ask("tenant", "POST", "/workflows/run", body)));
  return {
    "six bodies of `{}`": (world) => send(world, 6, emptyObjects),
    "six bodies of records": (world) => send(world, 6, records),
    "60 steps of 7 MB": (world) => run(world, largeRun(Math.ceil(60 / copies))),
    "a loop of 300 x 300": (world) => run(world, nestedLoops(Math.ceil(300 / copies))),
    "all of a large run, four times": async (world) => {
      const id = await run(world, largeRun(Math.ceil(150 / copies)));
      const paths = ["", "?whole=true", "/steps/s7%231?whole=true", "/events?limit=1000", "/logs?limit=50"];
      const asked = paths.flatMap((path) => Array(4).fill(`/runs/${id}${path}`) as string[]);
      await Promise.all(asked.map((path) => world.ask("tenant", "GET", path)));
      await world.ask("tenant", "GET", `/runs/compare?a=${id}&b=${id}`);
    },
    "300 streams": async (world) => {
      const stop = new AbortController();
      const open = Array.from({ length: 300 }, () => world.open("tenant", "/events", stop.signal));
      const statuses = await Promise.all(open);
      stop.abort();
      if (!statuses.includes(429)) throw new Error("300 streams of one tenant are open.");
    },
  };
}

/** One tenant attacks, and what another has to wait for is measured. */
export async function crowdOut(world: World, { isWhole }: { readonly isWhole: boolean }): Promise<Result> {
  const told: string[] = [];
  const violations: Violation[] = [];
  for (const [name, attack] of Object.entries(attacksOfOne(isWhole))) {
    const probes = measure(world);
    const failed = await attack(world).then(
      () => undefined,
      (error: unknown) => String(error),
    );
    const { p99, worst, lost } = await probes.end();
    told.push(`${name}: p99 ${p99} ms, at worst ${worst} ms`);
    if (p99 > MOST_MS) violations.push({ kind: "slow", detail: `${name}: another tenant's p99 is ${p99} ms` });
    if (lost > 0) violations.push({ kind: "crash", detail: `${name}: ${lost} requests of another tenant failed` });
    if (failed !== undefined) violations.push({ kind: "crash", detail: `${name}: ${failed}` });
    if (!world.isAlive) return { told: told.join("; "), violations: [...violations, { kind: "crash", detail: name }] };
  }
  return { told: told.join("; "), violations };
}

/** Asks as another tenant until it is ended. */
function measure(world: World) {
  const worker = new Worker(PROBE, { workerData: { url: world.url, key: world.keyOf("victim") } });
  return {
    async end(): Promise<{ readonly p99: number; readonly worst: number; readonly lost: number }> {
      worker.postMessage("end");
      const [measured] = await once(worker, "message");
      return measured;
    },
  };
}

async function run(world: World, workflow: string): Promise<string> {
  const sent = await world.ask("tenant", "POST", "/workflows/run", { workflow });
  const id = dataOf(sent)?.["run_id"];
  if (typeof id !== "string") throw new Error(`It was not taken: ${sent.status} ${sent.text.slice(0, 200)}`);
  for (;;) {
    const { status, text } = await world.ask("tenant", "GET", `/runs/${id}?steps=false&outputs=false&prompts=false`);
    if (status === 0 || /"status":"(?:completed|failed|partial)"/.test(text)) return id;
    await wait(500);
  }
}

function nestedLoops(size: number): string {
  const items = `[${Array.from({ length: size }, (_, index) => index).join(", ")}]`;
  const merge = (sources: object) => ({ type: "control", subtype: "merge", strategy: "object", sources });
  const loop = (iteratorVar: string, body: object) => ({
    type: "control",
    subtype: "loop",
    list: "steps.items.output.l",
    iteratorVar,
    maxConcurrency: size,
    body,
    end: true,
  });
  const inner = { startAt: "one", steps: { one: { ...merge({ v: "y", w: "x" }), end: true } } };
  return `${JSON.stringify({
    workflowId: "loops",
    name: "loops",
    trigger: { type: "internal" },
    startAt: "items",
    steps: {
      items: { ...merge({ l: items }), transitions: [{ nextStep: "outer" }] },
      outer: loop("x", { startAt: "inner", steps: { inner: loop("y", inner) } }),
    },
  })}\n`;
}
