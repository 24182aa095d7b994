import { spawnSync } from "node:child_process";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { benchAgentTools } from "./agents/tool-calls.ts";
import { benchWholeAgents } from "./agents/whole-agents.ts";
import { benchCodeCalls } from "./code/call-overhead.ts";
import { benchColdStart } from "./scenarios/cold-start.ts";
import { benchFanOut } from "./scenarios/fan-out.ts";
import { benchManyRuns } from "./scenarios/many-runs.ts";
import { benchRecovery } from "./scenarios/recovery.ts";
import { benchSequence } from "./scenarios/sequence.ts";
import { benchLoad } from "./service/load.ts";
import { benchRoutes } from "./service/routes.ts";
import { benchSubmissions } from "./service/submissions.ts";
import { benchBucket } from "./storage/bucket.ts";
import { benchPostgres } from "./storage/postgres.ts";
import { benchReconnect } from "./storage/reconnect.ts";
import type { Comparison } from "./support/compare.ts";
import { benchTerminal } from "./terminal/output.ts";
import { benchParkedRuns } from "./workers/parked-runs.ts";
import { benchRequests } from "./workers/requests.ts";
import { benchWorkers } from "./workers/waiting-steps.ts";

/** Programs of their own, with tables of their own. They come last: one that fails ends everything. */
const PROGRAMS: Record<string, string> = {
  "next-cost": "core/next-cost.ts",
  "exact-json": "core/exact-json.ts",
  pages: "web/main.ts",
};

/**
 * `npm run bench [-- NAME ...] [-- --rounds=N]`: each figure beside its floor, measured in the same run. `--peers` installs other
 * engines and measures Pawl beside them instead; `--curves` draws what grows with what into `docs/images`.
 */
const SCENARIOS: Record<string, (rounds: number) => Promise<Comparison[]>> = {
  sequence: benchSequence,
  "fan-out": benchFanOut,
  "many-runs": benchManyRuns,
  recovery: benchRecovery,
  "cold-start": benchColdStart,
  terminal: benchTerminal,
  "code-calls": benchCodeCalls,
  "agents-tools": benchAgentTools,
  agents: benchWholeAgents,
  postgres: benchPostgres,
  reconnect: benchReconnect,
  bucket: benchBucket,
  submissions: benchSubmissions,
  load: benchLoad,
  routes: benchRoutes,
  parked: benchParkedRuns,
  workers: benchWorkers,
  requests: benchRequests,
};

// As in the program.
const args = process.argv.slice(2);
const rounds = Number(args.find((arg) => arg.startsWith("--rounds="))?.slice(9) ?? 7);
const wanted = args.filter((arg) => !arg.startsWith("--"));

if (args.includes("--peers")) benchPeers("main.ts", "claims/main.ts");
if (args.includes("--curves")) benchPeers("curves.ts");

const names = [...Object.keys(PROGRAMS), ...Object.keys(SCENARIOS)];
const unknown = wanted.find((name) => !names.includes(name));
if (unknown !== undefined) {
  console.error(`There is no ${unknown} to measure: ${names.join(", ")}.`);
  process.exit(2);
}
const scenarios = Object.entries(SCENARIOS).filter(([name]) => isWanted(name));
if (scenarios.length > 0) {
  console.log(
    `Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}, medians of ${rounds} interleaved rounds\n`,
  );
  console.log("| what | floor | floor ms | ours ms | ratio | asked | |");
  console.log("|---|---|---|---|---|---|---|");
}
for (const [, bench] of scenarios) for (const result of await bench(rounds)) console.log(toRow(result));
for (const [name, program] of Object.entries(PROGRAMS)) if (isWanted(name)) run(process.execPath, inBench(program));

function isWanted(name: string): boolean {
  return wanted.length === 0 || wanted.includes(name);
}

function toRow({ name, floorName, floorMs, oursMs, ratio, target, note = "" }: Comparison): string {
  const asked = target === undefined ? "" : `${Number(target.toFixed(2))} ${ratio <= target ? "met" : "missed"}`;
  return `| ${name} | ${floorName} | ${floorMs.toFixed(2)} | ${oursMs.toFixed(2)} | ${ratio.toFixed(2)} | ${asked} | ${note} |`;
}

/** They have packages of their own, none of whose scripts is run. */
function benchPeers(...programs: readonly string[]): never {
  run("npm", "ci", "--prefix", inBench("peers"), "--ignore-scripts", "--no-audit", "--no-fund");
  const rest = args.filter((arg) => arg !== "--peers" && arg !== "--curves");
  for (const program of programs) run(process.execPath, inBench(`peers/${program}`), ...rest);
  process.exit(0);
}

function inBench(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}

/** A program that fails ends everything. */
function run(command: string, ...given: string[]): void {
  const { status } = spawnSync(command, given, { stdio: "inherit" });
  if (status !== 0) process.exit(1);
}
