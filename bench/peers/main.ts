import { writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { median } from "../support/compare.ts";
import { SCENARIOS, type Scenario } from "./peer.ts";
import { ENGINE_NAMES, PeerProcess, titleOf } from "./peer-process.ts";
import { startServers } from "./servers.ts";
import { countSyncs } from "./trace.ts";

const TRACED_STEPS = 500;

interface Engine {
  readonly process: PeerProcess;
  readonly took: Map<Scenario, number[]>;
}

interface Row {
  readonly engine: string;
  /** What the store says of itself. */
  readonly settings: string;
  /** Undefined: not traced. */
  readonly syncsPerStep: number | undefined;
  /** Of each round. */
  readonly ms: Readonly<Record<string, readonly number[]>>;
}

const args = process.argv.slice(2);
const rounds = Number(args.find((arg) => arg.startsWith("--rounds="))?.slice(9) ?? 3);
const wanted = args.filter((arg) => !arg.startsWith("--"));
const names = ENGINE_NAMES.filter((name) => wanted.length === 0 || wanted.includes(name));

const servers = await startServers();
const engines: Engine[] = [];
try {
  for (const name of names) engines.push(await openEngine(name));
  const before = loadavg()[0] ?? 0;
  // The first round warms all of them up.
  for (let round = 0; round <= rounds; round += 1) {
    for (const scenario of SCENARIOS) for (const engine of engines) await play(engine, scenario, round > 0);
  }
  const rows: Row[] = [];
  for (const engine of engines) rows.push(await describe(engine));
  const load = `${before.toFixed(1)} to ${(loadavg()[0] ?? 0).toFixed(1)}`;
  const machine = `Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}, load ${load}`;
  print(machine, rows);
  const out = args.find((arg) => arg.startsWith("--json="))?.slice(7);
  if (out !== undefined) writeFileSync(out, JSON.stringify({ at: new Date(), machine, rounds, rows }, undefined, 2));
} finally {
  for (const { process } of engines) process.kill();
  await servers.close();
}

async function openEngine(name: string): Promise<Engine> {
  const process = await PeerProcess.open(name, await servers.placesFor(name));
  return { process, took: new Map(SCENARIOS.map((scenario) => [scenario, []])) };
}

async function play({ process, took }: Engine, scenario: Scenario, counts: boolean): Promise<void> {
  const ms = await process.time({ scenario });
  if (ms === undefined || !counts) return;
  took.get(scenario)?.push(ms);
  console.error(`${process.name} ${scenario}: ${ms.toFixed(0)} ms`);
}

async function describe({ process, took }: Engine): Promise<Row> {
  const answer = await process.ask({ settings: true });
  // One store at a time: a trace of both makes each so slow that it has less to write at once.
  let syncs: number | undefined = 0;
  for (const pids of servers.storing(process.name, process.pid)) {
    const counted = await countSyncs(pids, () => process.ask({ scenario: "SEQ-500" }));
    syncs = counted === undefined || syncs === undefined ? undefined : syncs + counted;
  }
  return {
    engine: titleOf(process.name),
    settings: "settings" in answer ? answer.settings : "",
    syncsPerStep: syncs === undefined ? undefined : syncs / TRACED_STEPS,
    ms: Object.fromEntries([...took].map(([scenario, times]) => [scenario, times])),
  };
}

function print(machine: string, rows: readonly Row[]): void {
  console.log(`${machine}; medians of ${rounds} interleaved rounds [least..most], in ms\n`);
  console.log(`| engine | ${SCENARIOS.join(" | ")} | syncs a step | as the store says |`);
  console.log(`|---|${SCENARIOS.map(() => "---|").join("")}---|---|`);
  for (const { engine, ms, syncsPerStep, settings } of rows) {
    const cells = SCENARIOS.map((scenario) => toCell(ms[scenario] ?? []));
    console.log(`| ${engine} | ${cells.join(" | ")} | ${syncsPerStep?.toFixed(2) ?? "not traced"} | ${settings} |`);
  }
}

function toCell(took: readonly number[]): string {
  if (took.length === 0) return "";
  const [middle, least, most] = [median(took), Math.min(...took), Math.max(...took)].map((ms) => ms.toFixed(0));
  return `${middle} [${least}..${most}]`;
}
