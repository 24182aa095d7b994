import { join } from "node:path";
import { openServiceRecords } from "../../src/app/open-service-records.ts";
import type { Config } from "../../src/config/load-config.ts";
import { DEFAULTS } from "../../src/config/settings.ts";
import { EVERYTHING } from "../../src/core/trust/grant.ts";
import type { AppHost, Ports } from "../../src/operations/application/ports.ts";
import { withMethods } from "../../src/operations/application/with-methods.ts";
import { RequestRunner } from "../../src/operations/start/request-runner.ts";
import type { SlotRecord } from "../../src/ports/service/schedules.ts";
import { Scheduler } from "../../src/triggers/schedules/scheduler.ts";
import { FakeClock } from "../fakes/fake-clock.ts";
import { openOwner } from "./data-directory.ts";
import { childWorkflow } from "./workload.ts";

/** `claim:before`: dies instead of the claim; `claim:after`: as soon as it is durable. */
export type SlotCrash = `${"claim" | "startRun"}:${"before" | "after"}`;

/** A process takes a second to start: those between which there is a difference on the disk. */
export const SLOT_CRASHES: readonly SlotCrash[] = ["claim:before", "claim:after", "startRun:after"];

/** The slots of the one schedule, and how many runs there are. */
export interface Fired {
  readonly slots: readonly SlotRecord[];
  readonly runs: number;
}

/** Owns a data directory with one schedule, fires what is due at a moment, and lets everything go. */
export async function fireOnce(
  dataDir: string,
  { now, crashAt }: { readonly now: number; readonly crashAt?: SlotCrash | undefined },
): Promise<Fired> {
  const clock = new FakeClock(now);
  const owner = openOwner(dataDir, { durability: "process", host: { clock } });
  const service = openServiceRecords({ path: join(dataDir, "service.db"), durability: "process" });
  const dying = <T extends object>(target: T, deeds: readonly (keyof T & string)[]) => dieAt(target, deeds, crashAt);
  const schedules = dying(service.schedules, ["claim"]);
  const host = dying(owner.host, ["startRun"]) as unknown as AppHost;
  const graph = childWorkflow();
  const config: Config = { settings: DEFAULTS, origins: new Map(), secrets: [], env: () => undefined };
  // What firing needs of an application, and no more.
  const app = {
    appDir: dataDir,
    config,
    grant: EVERYTHING,
    clock,
    records: async () => ({ journal: owner.journal }),
    service: async () => ({ ...service, schedules }),
    budgets: async () => undefined,
    checkSandbox: async () => ({ ok: true, detail: "" }),
    library: {
      list: () => [{ name: graph.name, file: "/x", report: { definition: { text: "", graph }, problems: [] } }],
    },
  } as unknown as Ports;
  const runner = new RequestRunner(host, { maxInFlight: 1 });
  const raise = (error: unknown) => {
    throw error;
  };
  const scheduler = new Scheduler({ app, host, runner, failed: (_, error) => raise(error), onDefect: raise });
  await scheduler.start([]);
  await scheduler.stop();
  const [schedule] = await service.schedules.list({});
  const slots = await service.schedules.listSlots(schedule?.id ?? "", { limit: 9 });
  const runs = await owner.journal.countRuns({});
  await runner.stop(0, AbortSignal.abort());
  await service.close();
  await owner.close();
  return { slots, runs };
}

/** Dies before one of these methods does anything, or when it is done. */
function dieAt<T extends object>(target: T, deeds: readonly (keyof T & string)[], crashAt: SlotCrash | undefined): T {
  const die = () => process.kill(process.pid, "SIGKILL");
  const replaced: Partial<Record<string, unknown>> = {};
  for (const deed of deeds) {
    const method = target[deed];
    if (typeof method !== "function") continue;
    replaced[deed] = async (...given: readonly unknown[]) => {
      if (crashAt === `${deed}:before`) die();
      const result: unknown = await Reflect.apply(method, target, given);
      if (crashAt === `${deed}:after`) die();
      return result;
    };
  }
  return withMethods(target, replaced as Partial<T>);
}
