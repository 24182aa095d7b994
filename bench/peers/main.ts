import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { median } from "../support/compare.ts";
import { type Answer, type Asked, SCENARIOS, type Scenario } from "./peer.ts";
import { type Servers, startServers } from "./servers.ts";
import { countSyncs } from "./trace.ts";

/** What each is, with the package whose version is told. */
const ENGINES: Readonly<Record<string, readonly [name: string, packageName?: string]>> = {
  "pawl-sqlite": ["Pawl, SQLite"],
  "pawl-postgres": ["Pawl, PostgreSQL"],
  dbos: ["DBOS, PostgreSQL", "@dbos-inc/dbos-sdk"],
  restate: ["Restate", "@restatedev/restate-server"],
  bullmq: ["BullMQ flows (jobs)", "bullmq"],
  "pg-boss": ["pg-boss (jobs)", "pg-boss"],
  "langgraph-sqlite": ["LangGraph.js, SQLite", "@langchain/langgraph"],
  "langgraph-postgres": ["LangGraph.js, PostgreSQL", "@langchain/langgraph"],
  "openworkflow-sqlite": ["OpenWorkflow, SQLite", "openworkflow"],
  "openworkflow-postgres": ["OpenWorkflow, PostgreSQL", "openworkflow"],
};

const TRACED_STEPS = 500;

interface Engine {
  readonly name: string;
  readonly child: ChildProcess;
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
const names = Object.keys(ENGINES).filter((name) => wanted.length === 0 || wanted.includes(name));

const servers = await startServers();
const engines: Engine[] = [];
try {
  for (const name of names) engines.push(await openEngine(servers, name));
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
  for (const { child } of engines) child.kill("SIGKILL");
  await servers.close();
}

async function openEngine(from: Servers, name: string): Promise<Engine> {
  const places = await from.placesFor(name);
  const child = fork(new URL("./child.ts", import.meta.url), [name, JSON.stringify(places)], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  child.setMaxListeners(0);
  await answerOf(name, child);
  return { name, child, took: new Map(SCENARIOS.map((scenario) => [scenario, []])) };
}

async function answerOf(name: string, child: ChildProcess): Promise<Answer> {
  const over = new AbortController();
  const ended = once(child, "exit", over).then(() => Promise.reject(new Error(`${name} has ended.`)));
  try {
    const [answer] = await Promise.race([once(child, "message", over), ended]);
    return answer as Answer;
  } finally {
    ended.catch(() => undefined);
    over.abort();
  }
}

function ask({ name, child }: Engine, asked: Asked): Promise<Answer> {
  const answered = answerOf(name, child);
  child.send(asked);
  return answered;
}

async function play(engine: Engine, scenario: Scenario, counts: boolean): Promise<void> {
  const answer = await ask(engine, { scenario });
  const ms = "ms" in answer ? answer.ms : undefined;
  if (ms === undefined || !counts) return;
  engine.took.get(scenario)?.push(ms);
  console.error(`${engine.name} ${scenario}: ${ms.toFixed(0)} ms`);
}

async function describe(engine: Engine): Promise<Row> {
  const [shown = engine.name, packageName] = ENGINES[engine.name] ?? [];
  const answer = await ask(engine, { settings: true });
  const traced = servers.storing(engine.name, engine.child.pid ?? 0);
  const syncs = await countSyncs(traced, () => ask(engine, { scenario: "SEQ-500" }));
  return {
    engine: packageName === undefined ? shown : `${shown} ${versionOf(packageName)}`,
    settings: "settings" in answer ? answer.settings : "",
    syncsPerStep: syncs === undefined ? undefined : syncs / TRACED_STEPS,
    ms: Object.fromEntries([...engine.took].map(([scenario, took]) => [scenario, took])),
  };
}

function versionOf(packageName: string): string {
  const file = join(import.meta.dirname, "node_modules", packageName, "package.json");
  return JSON.parse(readFileSync(file, "utf8")).version;
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
