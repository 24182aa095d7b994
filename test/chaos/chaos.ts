import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Random } from "../simulation/random.ts";
import { check } from "./checker/check.ts";
import { findUntold } from "./checker/checks/service.ts";
import type { Observation } from "./checker/observation.ts";
import { observeRuns } from "./checker/observe.ts";
import { watchRuns } from "./checker/watch-runs.ts";
import { Cluster } from "./cluster/cluster.ts";
import type { Role } from "./cluster/pawl-process.ts";
import { type FaultKind, planFaults } from "./faults/fault-plan.ts";
import { playFaults } from "./faults/play-faults.ts";
import { makeReport, type Report } from "./report.ts";
import { Client } from "./workload/client.ts";
import { ServiceState, settings } from "./workload/service-state.ts";
import { definitionFiles, Workload } from "./workload/workload.ts";
import { startWorld, type World } from "./world/start-world.ts";

export interface ChaosOptions {
  readonly seed: number;
  readonly minutes: number;
  readonly runsPerSecond: number;
  readonly kinds: readonly FaultKind[];
  readonly counts: Readonly<Record<Role, number>>;
  readonly leaseMs: number;
  /** Where everything that was seen is left. */
  readonly folder: string;
  told(line: string): void;
}

const MINUTE_MS = 60_000;
/** How long the last runs may take when there are no more faults. */
const PATIENCE_MS = 120_000;

/** Runs the production topology under load and faults, and checks what can be seen of it from outside. */
export async function runChaos(options: ChaosOptions): Promise<Report> {
  const { folder, leaseMs, counts } = options;
  mkdirSync(folder, { recursive: true });
  const world = await startWorld(join(folder, "effects.jsonl"));
  const files = { ...definitionFiles(world), "pawl.yaml": settings(world) };
  const env = { SANDSTORM_URL: world.sandstormUrl };
  const cluster = await Cluster.start({ folder, files, env, leaseMs, counts });
  let report: Report | undefined;
  try {
    report = await playAndCheck(options, world, cluster);
    writeFileSync(join(folder, "report.json"), JSON.stringify(report, undefined, 2));
    return report;
  } finally {
    await cluster.stop({ keepsData: report === undefined || report.violations.length > 0 });
    await world.stop();
  }
}

async function playAndCheck(options: ChaosOptions, world: World, cluster: Cluster): Promise<Report> {
  const { seed, minutes, folder, leaseMs, kinds, runsPerSecond } = options;
  const told = (text: string) => options.told(`${new Date().toISOString()} ${text}`);
  const client = new Client(cluster.of("api"));
  const state = new ServiceState(client);
  await state.prepare(cluster.databaseUrl);
  const watch = watchRuns(cluster, leaseMs);
  const callbackUrl = `${world.url}/webhook`;
  const workload = new Workload({ client, random: new Random(seed), callbackUrl, runsPerSecond });

  const durationMs = minutes * MINUTE_MS;
  const until = Date.now() + durationMs;
  const planned = planFaults({ seed, durationMs, leaseMs, processes: cluster.processes, kinds });
  const playing = playFaults(planned, { cluster, until, told: (fault) => told(JSON.stringify(fault)) });
  const [faults] = await Promise.all([playing, workload.submit(until)]);
  const over = Date.now();
  told(`no more faults; ${workload.accepted.length} runs were accepted`);
  await workload.done(PATIENCE_MS);
  const isEverybodyTold = () => findUntold({ webhooks: world.webhooks, accepted: workload.accepted }).length === 0;
  const left = await state.settle(PATIENCE_MS, isEverybodyTold);
  await watch.stop();
  told("everything is read");
  const ends = left.map((runId) => `The run ${runId} has not ended ${PATIENCE_MS / 1_000} s after the last fault.`);
  const crashes = cluster.processes.flatMap((process) => process.crashes);
  const observation: Observation = {
    leaseMs,
    faults,
    accepted: workload.accepted,
    runs: await observeRuns(client),
    effects: world.log.effects,
    webhooks: world.webhooks,
    failedRequests: client.failed,
    complaints: [...workload.complaints, ...crashes, ...ends],
    unattended: watch.unattended,
    idle: watch.idle,
    ...(await state.observe(world, over)),
  };
  writeFileSync(join(folder, "observation.json"), JSON.stringify(observation));
  const about = { seed, minutes, requests: client.requests, refused: workload.refused };
  return makeReport(observation, check(observation), about);
}
