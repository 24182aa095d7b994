import { writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { measureRecovery, recoverOnce } from "../scenarios/recovery.ts";
import { median } from "../support/compare.ts";
import { fanOut, openNoOpHost } from "../support/no-op-host.ts";
import { measureMemory } from "../workers/parked-runs.ts";
import { measureThroughput } from "../workers/waiting-steps.ts";
import { type Chart, drawChart, type Line } from "./draw-chart.ts";
import { openPostgresPeer, runOn } from "./engines/pawl-postgres.ts";
import { ENGINE_NAMES, PeerProcess, titleOf } from "./peer-process.ts";
import { timeRestateRecovery } from "./restate-recovery.ts";
import { type Servers, startServers } from "./servers.ts";

/** `npm run bench -- --curves [-- steps|resume|parked|workers ...]`: draws each curve, and prints its figures. */
const CURVES: Readonly<Record<string, () => Promise<Chart>>> = { steps, resume, parked, workers };

const COUNTS = [100, 1_000, 10_000, 100_000];
const ROUNDS = 3;
/** Of Restate, whose pause before it looks is by chance. */
const RECOVERIES = 9;
/** A run of ten times as many steps is not waited for by an engine that took longer than this. */
const LONG_MS = 15_000;
/** Of these a step is a job, and there is no run. */
const WITHOUT_RUNS = ["bullmq", "pg-boss"];

const wanted = process.argv.slice(2).filter((arg) => !arg.startsWith("--"));
for (const [name, measure] of Object.entries(CURVES)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const before = loadavg()[0] ?? 0;
  const chart = await measure();
  const load = `${before.toFixed(1)} to ${(loadavg()[0] ?? 0).toFixed(1)}`;
  const when = new Date().toISOString().slice(0, 10);
  const machine = `Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model?.trim()}, load ${load}, ${when}`;
  writeFileSync(join(import.meta.dirname, `../../docs/images/curve-${name}.svg`), drawChart(chart, machine));
  print(chart, machine);
}

/** Time for each step of one run of so many, one after the other. */
async function steps(): Promise<Chart> {
  const lines: Line[] = [];
  await withServers(async (servers) => {
    for (const name of ENGINE_NAMES.filter((engine) => !WITHOUT_RUNS.includes(engine)))
      lines.push({ name: titleOf(name), points: await timeSteps(servers, name) });
  });
  return {
    title: "Time of a step in a sequence",
    x: "steps of the run",
    y: "ms for each step",
    lines,
    isLogarithmic: true,
  };
}

async function timeSteps(servers: Servers, name: string): Promise<Line["points"]> {
  const points: [number, number][] = [];
  const peer = await PeerProcess.open(name, await servers.placesFor(name));
  try {
    await peer.time({ steps: 100 });
    for (const count of COUNTS) {
      const took: number[] = [];
      for (let round = 0; round < ROUNDS && (took[0] ?? 0) < LONG_MS; round += 1)
        took.push((await peer.time({ steps: count })) ?? Number.NaN);
      const ms = median(took);
      console.error(`${name}, ${count} steps: ${ms.toFixed(0)} ms`);
      points.push([count, ms / count]);
      if (ms > LONG_MS) break;
    }
  } catch (error) {
    console.error(`${name}: ${error instanceof Error ? error.message : error}`);
  } finally {
    peer.kill();
  }
  return points;
}

/** From opening the journal to the next command of a run that has so many finished steps. */
async function resume(): Promise<Chart> {
  const sqlite: [number, number][] = [];
  const postgres: [number, number][] = [];
  const restate: [number, number][] = [];
  for (const count of COUNTS)
    sqlite.push([count, await measureRecovery({ steps: count, outputBytes: 200, rounds: ROUNDS })]);
  await withServers(async (servers) => {
    const { postgresUrl } = await servers.placesFor("resume");
    for (const count of COUNTS) postgres.push([count, await timePostgresRecovery(postgresUrl, count)]);
    for (const count of COUNTS.slice(0, 3))
      restate.push([count, await timeRestateRecovery(await servers.placesFor(`resume-${count}`), count, RECOVERIES)]);
  });
  const lines = [
    { name: "Pawl, SQLite", points: sqlite },
    { name: "Pawl, PostgreSQL", points: postgres },
    { name: "Pawl, Restate and SQLite", points: restate },
  ];
  return { title: "Time until a run goes on", x: "finished steps of the run", y: "ms", lines, isLogarithmic: true };
}

async function timePostgresRecovery(url: string, count: number): Promise<number> {
  const { journal, close } = await openPostgresPeer(url);
  const host = openNoOpHost(journal, 200);
  const runId = await runOn(host, fanOut(count, 500));
  const took: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const startedAt = performance.now();
    const again = await openPostgresPeer(url);
    await recoverOnce(again.journal, runId, count);
    if (round > 0) took.push(performance.now() - startedAt);
    await again.close();
  }
  await host.park(AbortSignal.abort());
  await close();
  return median(took);
}

/** Resident memory of a worker beside so many parked runs. */
async function parked(): Promise<Chart> {
  const counts = [2, 1_000, 10_000, 100_000, 1_000_000];
  const resident = await measureMemory(counts);
  const points = counts.map((count, index): [number, number] => [count, resident[index] ?? Number.NaN]);
  const lines = [{ name: "a worker of Pawl, PostgreSQL", points }];
  return { title: "Memory beside parked runs", x: "parked runs", y: "MB resident", lines, isLogarithmic: "x" };
}

/** Steps a second while there is always more to do. */
async function workers(): Promise<Chart> {
  const done: [number, number][] = [];
  const ideal: [number, number][] = [];
  for (const count of [1, 2, 3, 4, 6]) {
    const measured = await measureThroughput(count);
    done.push([count, measured.perSecond]);
    ideal.push([count, measured.ideal]);
  }
  const lines = [
    { name: "Pawl, PostgreSQL", points: done },
    { name: "without any work between the steps", points: ideal },
  ];
  const title = "Steps of 100 ms, ten at once in each worker";
  return { title, x: "workers", y: "steps a second", lines, isLogarithmic: false };
}

async function withServers(use: (servers: Servers) => Promise<void>): Promise<void> {
  const servers = await startServers();
  try {
    await use(servers);
  } finally {
    await servers.close();
  }
}

function print({ title, x, y, lines }: Chart, machine: string): void {
  const columns = [...new Set(lines.flatMap(({ points }) => points.map(([at]) => at)))].sort((a, b) => a - b);
  console.log(`\n${title}: ${y}. ${machine}\n`);
  console.log(`| ${x} | ${columns.map((at) => at.toLocaleString("en")).join(" | ")} |`);
  console.log(`|---|${columns.map(() => "---|").join("")}`);
  for (const { name, points } of lines) {
    const of = new Map(points);
    const cells = columns.map((at) => of.get(at)?.toPrecision(3) ?? "");
    console.log(`| ${name} | ${cells.join(" | ")} |`);
  }
}
