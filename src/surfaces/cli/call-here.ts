import type { z } from "zod";
import { findRun } from "../../operations/application/find-run.ts";
import type { AppHost, OpenApplication, Ports } from "../../operations/application/ports.ts";
import { forTenant } from "../../operations/application/tenant-application.ts";
import type { Operation } from "../../operations/operation.ts";
import { describeHead, describeRun } from "../../operations/runs/describe/describe-run.ts";
import { readPinnedGraph, readRunHistory } from "../../operations/runs/describe/describe-run-reading.ts";
import { followRun } from "../../operations/runs/follow/follow-run.ts";
import type { FollowedRun, RunCaller } from "./caller.ts";
import { tell } from "./print.ts";
import { shortId } from "./render/text/formats.ts";
import type { StopSignals } from "./stop-signals.ts";

const MAX_WEBHOOKS = 1_000;

/** What a command prints at the end of its run goes to the program that has started it. */
const WHOLE = { mostBytes: Number.POSITIVE_INFINITY };

interface HereOptions {
  readonly starts: "here" | "in the background";
  /** Whose things operations see. Absent: everybody's. */
  readonly tenant?: string | undefined;
}

/** Does operations in this process, which becomes the owner of the data where nobody is, and goes through the owner otherwise. */
export class HereCaller implements RunCaller {
  readonly #app: OpenApplication;
  /** As operations see it. */
  readonly #seen: Ports;
  readonly #startHost: () => Promise<AppHost>;
  #hasLeft = false;

  /** `starts`: runs that operations start go on here, or in a process in the background. */
  constructor(app: OpenApplication, { starts, tenant }: HereOptions) {
    this.#app = app;
    this.#seen = tenant === undefined ? app : forTenant(app, tenant);
    this.#startHost = () => (starts === "here" ? app.host() : app.backgroundHost());
  }

  async call<Input extends z.ZodObject, Output extends z.ZodType>(
    operation: Operation<Input, Output>,
    given: Readonly<Record<string, unknown>>,
  ): Promise<z.output<Output>> {
    const [submissions, { parseInput }] = await Promise.all([
      this.#openSubmissions(),
      import("../../operations/fields.ts"),
    ]);
    const input = parseInput(operation.input, given);
    const context = { app: this.#seen, by: "cli", submissions, folder: process.cwd() } as const;
    return (await operation.handle(context, input)) as z.output<Output>;
  }

  async follow({ runId, begin, resumes, listen }: FollowedRun, stop: AbortSignal): Promise<"at rest" | "stopped"> {
    const start = async (host: AppHost) => {
      await begin?.();
      if (resumes === true) await host.request(runId, { type: "resume" });
    };
    const { is } = await followRun(this.#app, { runId, begin: start, listen }, stop);
    return is === "stopped" ? "stopped" : "at rest";
  }

  async readHead(runId: string) {
    return describeHead(await readRunHistory(await this.#app.records(), await findRun(this.#app, runId)), WHOLE);
  }

  async readRun(runId: string) {
    return describeRun(await this.#app.records(), await findRun(this.#app, runId), WHOLE);
  }

  async readGraph(runId: string, called?: string) {
    return readPinnedGraph(this.#app, called ?? (await findRun(this.#app, runId)).graph);
  }

  async countUndelivered(runId: string) {
    const { journal } = await this.#app.records();
    const { no } = await findRun(this.#app, runId);
    const stored = await journal.readOutbox({ kind: "webhook", limit: MAX_WEBHOOKS });
    return stored.filter(({ run }) => run === no).length;
  }

  async place() {
    const host = await this.#app.host();
    return host.role === "guest" ? `in process ${host.ownerPid}` : undefined;
  }

  async isDriven() {
    return this.#app.isDriven();
  }

  async leave({ stop, force }: StopSignals) {
    this.#hasLeft = true;
    await this.#app.leave(stop, force);
  }

  async park(runId: string, { force }: StopSignals) {
    const place = await this.place();
    this.#hasLeft = true;
    if (place !== undefined) {
      tell(`The run goes on ${place}. Cancel it: pawl runs cancel ${shortId(runId)}`);
      await this.#app.park(force);
      return "goes on";
    }
    tell("Parking the run ... (Ctrl-C again to quit now)");
    await this.#app.park(force, runId);
    tell(`The run is parked. Resume it: pawl runs resume ${shortId(runId)}`);
    return "parked";
  }

  /** As the owner this process may have taken up runs: they are parked in good order, as far as the disk still allows. */
  async abandon() {
    if (!this.#hasLeft) await this.#app.park(AbortSignal.abort()).catch(() => undefined);
  }

  async #openSubmissions() {
    const [{ runnerForOne }, { Submissions }] = await Promise.all([
      import("../../operations/start/request-runner.ts"),
      import("../../operations/start/submit-run.ts"),
    ]);
    return new Submissions(runnerForOne(this.#startHost));
  }
}
