import { findRun } from "../../operations/application/find-run.ts";
import type { AppHost, OpenApplication, Ports } from "../../operations/application/ports.ts";
import { forTenant } from "../../operations/application/tenant-application.ts";
import { describeHead, describeRun } from "../../operations/runs/describe/describe-run.ts";
import { readPinnedGraph, readRunHistory } from "../../operations/runs/describe/describe-run-reading.ts";
import { followRun } from "../../operations/runs/follow/follow-run.ts";
import type { RunCaller } from "./caller.ts";
import { tell } from "./print.ts";
import { shortId } from "./render/text/formats.ts";

const MAX_WEBHOOKS = 1_000;

/** What a command prints at the end of its run goes to the program that has started it. */
const WHOLE = { mostBytes: Number.POSITIVE_INFINITY };

interface HereOptions {
  readonly starts: "here" | "in the background";
  /** Whose things operations see. Absent: everybody's. */
  readonly tenant?: string | undefined;
}

/**
 * Does operations in this process, which becomes the owner of the data where nobody is, and goes through the owner otherwise. `starts`: runs
 * that operations start go on here, or in a process in the background.
 */
export function callHere(app: OpenApplication, { starts, tenant }: HereOptions): RunCaller {
  const seen: Ports = tenant === undefined ? app : forTenant(app, tenant);
  let hasLeft = false;

  async function place(): Promise<string | undefined> {
    const host = await app.host();
    return host.role === "guest" ? `in process ${host.ownerPid}` : undefined;
  }

  return {
    place,
    async call(operation, given) {
      const [{ runnerForOne }, { Submissions }, { parseInput }] = await Promise.all([
        import("../../operations/start/request-runner.ts"),
        import("../../operations/start/submit-run.ts"),
        import("../../operations/fields.ts"),
      ]);
      const startHost = () => (starts === "here" ? app.host() : app.backgroundHost());
      const submissions = new Submissions(runnerForOne(startHost));
      const context = { app: seen, by: "cli", submissions, folder: process.cwd() } as const;
      return (await operation.handle(context, parseInput(operation.input, given))) as never;
    },
    async follow({ runId, begin, resumes, listen }, stop) {
      const start = async (host: AppHost) => {
        await begin?.();
        if (resumes === true) await host.request(runId, { type: "resume" });
      };
      const { is } = await followRun(app, { runId, begin: start, listen }, stop);
      return is === "stopped" ? "stopped" : "at rest";
    },
    readHead: async (runId) =>
      describeHead(await readRunHistory(await app.records(), await findRun(app, runId)), WHOLE),
    readRun: async (runId) => describeRun(await app.records(), await findRun(app, runId), WHOLE),
    readGraph: async (runId, called) => readPinnedGraph(app, called ?? (await findRun(app, runId)).graph),
    async countUndelivered(runId) {
      const { journal } = await app.records();
      const { no } = await findRun(app, runId);
      const stored = await journal.readOutbox({ kind: "webhook", limit: MAX_WEBHOOKS });
      return stored.filter(({ run }) => run === no).length;
    },
    isDriven: () => app.isDriven(),
    async leave({ stop, force }) {
      hasLeft = true;
      await app.leave(stop, force);
    },
    async park(runId, { force }) {
      const where = await place();
      hasLeft = true;
      if (where !== undefined) {
        tell(`The run goes on ${where}. Cancel it: pawl runs cancel ${shortId(runId)}`);
        await app.park(force);
        return "goes on";
      }
      tell("Parking the run ... (Ctrl-C again to quit now)");
      await app.park(force, runId);
      tell(`The run is parked. Resume it: pawl runs resume ${shortId(runId)}`);
      return "parked";
    },
    /** As the owner this process may have taken up runs: they are parked in good order, as far as the disk still allows. */
    async abandon() {
      if (!hasLeft) await app.park(AbortSignal.abort()).catch(() => undefined);
    },
  };
}
