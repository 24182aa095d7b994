import { resolve } from "node:path";
import { createApp } from "../app/create-app.ts";
import type { SystemClock } from "../app/system-clock.ts";
import { BoundedMap } from "../core/bounded-map.ts";
import { ERRORS } from "../core/errors/error-table.ts";
import { isPawlError, PawlError } from "../core/errors/pawl-error.ts";
import { parseExact, writeExact } from "../core/exact-json.ts";
import type { IndexedGraph } from "../core/graph/indexed-graph.ts";
import { asObject, type Json } from "../core/json.ts";
import type { AnyWorkflow, Workflow } from "../dialects/typescript/workflow.ts";
import type { SettledRun } from "../hosts/run-host.ts";
import { findRun } from "../operations/application/find-run.ts";
import type { AppHost, HttpService, OpenApplication } from "../operations/application/ports.ts";
import { answerApproval } from "../operations/approvals/answer-approval.ts";
import { listApprovals } from "../operations/approvals/describe-run-approvals.ts";
import { problemsOf } from "../operations/definitions/compile-text.ts";
import { checkPrograms } from "../operations/definitions/program-file.ts";
import { forkRun, rerunRun } from "../operations/repeat/repetitions.ts";
import { cancelUnfinished } from "../operations/runs/cancel-unfinished.ts";
import { describeHead } from "../operations/runs/describe/describe-run.ts";
import { readRunHistory } from "../operations/runs/describe/describe-run-reading.ts";
import { FollowedRuns } from "../operations/runs/follow/followed-runs.ts";
import { streamRun } from "../operations/runs/follow/stream-run.ts";
import { readRunOutcome } from "../operations/runs/read-run-result.ts";
import { toRunInput } from "../operations/start/input/to-run-input.ts";
import { prepareStart } from "../operations/start/prepare-run.ts";
import { RequestRunner } from "../operations/start/request-runner.ts";
import { Submissions } from "../operations/start/submit-run.ts";
import { JsonSchemas } from "../schemas/json-schemas.ts";
import type { Pawl, PawlOptions, RunFailed, StartedRun } from "./api.ts";
import { Programs } from "./programs.ts";

/** What all parts of a program that open the same data share. */
export interface EngineParts {
  readonly app: OpenApplication;
  readonly host: AppHost;
  readonly programs: Programs;
  readonly submissions: Submissions;
  /** What has been compiled and read, for the runs that follow. */
  readonly checker: JsonSchemas;
  readonly graphs: Map<string, IndexedGraph>;
  serving: Promise<HttpService> | undefined;
  /** Once it serves. */
  service: HttpService | undefined;
}

export class Engine implements Pawl {
  readonly #parts: EngineParts;
  readonly #agent: string | undefined;
  readonly #Failed: typeof RunFailed;
  readonly #leave: (drainMs: number) => Promise<void>;
  readonly #followed = new FollowedRuns();
  /** Aborts when it is closed: what waits for a run hears no more of it. */
  readonly #life = new AbortController();
  #closed: Promise<void> | undefined;

  constructor(
    parts: EngineParts,
    options: {
      readonly agent: string | undefined;
      readonly Failed: typeof RunFailed;
      leave(drainMs: number): Promise<void>;
    },
  ) {
    this.#parts = parts;
    this.#agent = options.agent;
    this.#Failed = options.Failed;
    this.#leave = options.leave;
  }

  protected get parts(): EngineParts {
    if (this.#closed === undefined) return this.#parts;
    throw closed();
  }

  get url(): string | undefined {
    return this.#parts.service?.url || undefined;
  }

  // A program hands it on by itself, so that it has no `this`.
  readonly fetch = async (request: Request): Promise<Response> => {
    const { service } = this.parts;
    if (service !== undefined) return service.fetch(request);
    throw new PawlError("CONFIG_INVALID", {
      message: "This Pawl serves nothing.",
      remedy: "Open it with `serve: {}`, or with `serve: { listen: false }` to serve by `fetch` alone.",
    });
  };

  async start<In, Out>(
    workflow: Pick<Workflow<In, Out>, "name" | "types">,
    input: NoInfer<In>,
    { idempotencyKey, by }: Parameters<Pawl["start"]>[2] = {},
  ): Promise<StartedRun<Out>> {
    const definition = this.parts.programs.definitionOf(workflow);
    if (definition === undefined)
      throw new PawlError("WORKFLOW_NOT_FOUND", {
        message: `The workflow \`${workflow.name}\` is not one of those that this Pawl was opened with.`,
        remedy: "Name it in `openPawl({ workflows: [...] })`.",
      });
    const given = asObject(toJson(input));
    const submitted = await this.parts.submissions.start(this.parts.app, {
      asked: { workflow: workflow.name, input: given },
      idempotencyKey,
      prepare: async (runId) => {
        const startable = {
          definition,
          input: await toRunInput(given, definition.graph, this.parts.checker),
          ...(runId === undefined ? {} : { runId }),
        };
        const agent = this.#agent === undefined ? {} : { agent: this.#agent };
        const context = { folder: this.parts.app.appDir, ...agent, requestedBy: by };
        return { start: await prepareStart(this.parts.app, startable, context).catch(sayProblems) };
      },
    });
    return this.run(submitted.is === "new" ? submitted.prepared.start.runId : submitted.record.id);
  }

  run<Out = unknown>(id: string): StartedRun<Out> {
    return {
      id,
      status: () => this.#status(id),
      result: () => this.#result<Out>(id),
      events: (signal) => this.#events(id, signal),
    };
  }

  async rerun<Out = unknown>(id: string, asked: Parameters<Pawl["rerun"]>[1] = {}): Promise<StartedRun<Out>> {
    const { from, current = false, changes, idempotencyKey } = asked;
    const { app, submissions } = this.parts;
    const request = {
      id,
      ...(from === undefined ? {} : { from_step: from }),
      ...(current ? { definition: "current" as const } : {}),
      ...(idempotencyKey === undefined ? {} : { idempotency_key: idempotencyKey }),
    };
    const context = { app, submissions, by: "api" as const };
    const { run_id: started } =
      changes === undefined
        ? await rerunRun.handle(context, request)
        : await forkRun.handle(context, { ...request, changes: asObject(toJson(changes)) });
    return this.run(started);
  }

  async approve(runId: string, step: string, edited?: unknown, by?: string): Promise<void> {
    await this.#answer(runId, step, {
      answer: "approve",
      ...(edited === undefined ? {} : { edited: toJson(edited) }),
      ...(by === undefined ? {} : { by, who: { name: by } }),
    });
  }

  async reject(runId: string, step: string, comment?: string, by?: string): Promise<void> {
    await this.#answer(runId, step, {
      answer: "reject",
      ...(comment === undefined ? {} : { comment }),
      ...(by === undefined ? {} : { by, who: { name: by } }),
    });
  }

  async signal(runId: string, event: string, payload: unknown = null): Promise<void> {
    await this.parts.host.request(runId, { type: "signal", name: event, payload: toJson(payload) });
  }

  async cancel(runId: string, reason?: string): Promise<void> {
    await cancelUnfinished(this.parts.app, runId, { by: "program", reason });
  }

  add(workflows: readonly AnyWorkflow[]): Promise<void> {
    return this.parts.programs.add(workflows);
  }

  close({ drain = 10_000 }: { readonly drain?: number } = {}): Promise<void> {
    this.#life.abort();
    this.#closed ??= this.#leave(drain);
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #answer(runId: string, step: string, answer: Parameters<typeof answerApproval>[2]): Promise<void> {
    const record = await findRun(this.parts.app, runId);
    const open = await listApprovals(await this.parts.app.records(), record);
    const named = open.filter(({ step_id, path }) => path === step || step_id === step);
    const [only] = named;
    if (only === undefined || named.length > 1)
      throw new PawlError("APPROVAL_NOT_OPEN", {
        message:
          only === undefined
            ? `The run waits for no approval \`${step}\`.`
            : `The run waits for ${named.length} approvals \`${step}\`.`,
        remedy:
          open.length === 0
            ? ERRORS.APPROVAL_NOT_OPEN.remedy
            : `Name one by its path: ${open.map(({ path }) => path).join(", ")}.`,
      });
    await answerApproval(this.parts.app, { record, path: only.path, asked: only.asked }, answer);
  }

  async *#events(runId: string, stop?: AbortSignal) {
    const { signal } = this.#life;
    const ended = stop === undefined ? signal : AbortSignal.any([stop, signal]);
    const isCutOff = () => signal.aborted && stop?.aborted !== true;
    try {
      yield* streamRun(this.parts.app, runId, { followed: this.#followed }, ended);
    } catch (error) {
      // Whatever it was in the middle of, this is why.
      throw isCutOff() ? closed(error) : error;
    }
    if (isCutOff()) throw closed();
  }

  async #status(runId: string) {
    const reading = await readRunHistory(await this.parts.app.records(), await findRun(this.parts.app, runId));
    const { status, error } = await describeHead(reading, { withOutputs: false });
    return { status, error };
  }

  async #result<Out>(runId: string): Promise<Out> {
    const record = await this.#ended(runId);
    const outcome = await readRunOutcome(await this.parts.app.records(), record, this.parts.graphs);
    if (outcome.is === "completed") return outcome.output as Out;
    throw new this.#Failed(record, outcome);
  }

  async #ended(runId: string): Promise<SettledRun> {
    // Who watches a run is told all of it from its beginning, so that is only done for one that rests without an end.
    const rested = await this.parts.host.settled(runId);
    if (rested.completedAt !== undefined) return rested;
    for (;;) {
      const news = Promise.withResolvers<void>();
      const heard = () => news.resolve();
      const stop = this.parts.host.watch(runId, ({ type }) => type === "event" && heard());
      this.#life.signal.addEventListener("abort", heard);
      try {
        const record = await this.parts.host.settled(runId);
        if (record.completedAt !== undefined) return record;
        await news.promise;
      } finally {
        stop();
        this.#life.signal.removeEventListener("abort", heard);
      }
    }
  }
}

function closed(cause?: unknown): PawlError {
  return new PawlError("ENGINE_CLOSED", { message: "This Pawl is closed.", cause });
}

/** A program prints the message of what it catches, and not its details. */
function sayProblems(error: unknown): never {
  if (!isPawlError(error) || error.code !== "DEFINITION_INVALID") throw error;
  const said = problemsOf(error).map(({ message }) => ` ${message}`);
  const { details, remedy } = error;
  throw new PawlError(error.code, { message: `${error.message}${said.join("")}`, remedy, details, cause: error });
}

/** What is recorded of a value: what `JSON.stringify` writes of it, with every integer. */
function toJson(value: unknown): Json {
  const written: string | undefined = writeExact(value);
  if (written !== undefined) return parseExact(written);
  throw new PawlError("INPUT_INVALID", { message: `What is given is no JSON, but ${typeof value}.` });
}

/** Graphs of runs that have ended: a program has few workflows. */
const MAX_GRAPHS = 100;

interface OpenData {
  readonly parts: Promise<EngineParts>;
  /** Those in this process that have opened it and not closed it. */
  users: number;
  closing?: Promise<void>;
}

/** `Failed`: as the program sees it, whose module is another copy. Throws `CONFIG_INVALID`, `DATA_LOCKED`. */
export async function openEngine(options: PawlOptions, Failed: typeof RunFailed): Promise<Pawl> {
  const { parts, leave } = await openData(options);
  return new Engine(parts, { agent: options.agent, Failed, leave });
}

/** `clock`: of a test. */
export async function openData(
  { workflows, data, database, folder = ".", serve, onDefect = console.error }: PawlOptions,
  clock?: SystemClock,
): Promise<{ readonly parts: EngineParts; leave(drainMs: number): Promise<void> }> {
  const programs = new Programs();
  const checked = await checkPrograms(workflows);
  const flags = {
    ...(data === undefined ? {} : { "data.dir": { value: resolve(data), flag: "`data`" } }),
    ...(database === undefined ? {} : { "database.url": { value: database, flag: "`database`" } }),
  };
  const app = await createApp({
    appDir: folder,
    flags,
    environment: process.env,
    program: [process.execPath],
    programs,
    clock,
    tell: () => undefined,
    onDefect,
  });
  if (!isCalledByRestate(app.config.settings.restate)) {
    await app.close();
    throw new PawlError("CONFIG_INVALID", {
      message:
        "`restate.url` (RESTATE_URL) is set, and Restate does not know that it must call this program, which alone has its functions.",
      remedy:
        "Set `restate.endpoint_port`, and a `restate.service` that only programs with these workflows have; or unset `restate.url`.",
    });
  }
  const engines = enginesOfProcess();
  const key = app.config.settings.database.url ?? app.dataDir;
  await engines.get(key)?.closing;
  const engine = engines.get(key) ?? { parts: openParts(app, programs), users: 0 };
  engines.set(key, engine);
  engine.users += 1;
  const leave = async (drainMs: number) => {
    engine.users -= 1;
    if (engine.users > 0) return;
    engine.closing ??= engine.parts.then((parts) => closeParts(parts, drainMs)).finally(() => engines.delete(key));
    return engine.closing;
  };
  try {
    const parts = await engine.parts;
    await parts.programs.add(checked);
    if (serve !== undefined) await serveParts(parts, serve);
    return { parts, leave };
  } catch (error) {
    await leave(0).catch(() => undefined);
    throw error;
  }
}

/** The service that applications have which name none: behind it Restate may find a server, which has not the functions. */
const SHARED_SERVICE = "pawl";

function isCalledByRestate({ url, endpoint_port: port, service }: OpenApplication["config"]["settings"]["restate"]) {
  return url === undefined || (port !== undefined && service !== SHARED_SERVICE);
}

// One in a process for the same data, also where a bundler has made two copies of this module, or a reload one more. The number
// grows with each version whose parts are others.
const SLOT = Symbol.for("pawl.engines/1");

function enginesOfProcess(): Map<string, OpenData> {
  const slots = globalThis as { [SLOT]?: Map<string, OpenData> };
  slots[SLOT] ??= new Map();
  return slots[SLOT];
}

async function openParts(app: OpenApplication, programs: Programs): Promise<EngineParts> {
  const host = await app.host();
  if (host.role === "guest") {
    await app.close();
    throw new PawlError("DATA_LOCKED", {
      message: `Process ${host.ownerPid} drives the runs of ${app.dataDir}, and has not the functions of this program.`,
      remedy: "End it first, or open another data folder; several programs share a PostgreSQL database (`database`).",
    });
  }
  const runner = new RequestRunner(host, { maxInFlight: Number.POSITIVE_INFINITY });
  const kept = { checker: new JsonSchemas(), graphs: new BoundedMap<string, IndexedGraph>(MAX_GRAPHS) };
  return { app, host, programs, submissions: new Submissions(runner), ...kept, serving: undefined, service: undefined };
}

async function serveParts(parts: EngineParts, serve: NonNullable<PawlOptions["serve"]>): Promise<void> {
  const { log = () => undefined, ...address } = serve;
  // Two that open it at once ask for one server.
  parts.serving ??= parts.app.listen({ ...address, log }).catch((error: unknown) => {
    parts.serving = undefined;
    throw error;
  });
  parts.service = await parts.serving;
}

async function closeParts({ app, service }: EngineParts, drainMs: number): Promise<void> {
  const force = AbortSignal.timeout(drainMs);
  try {
    await service?.stop(force);
    await app.park(force);
  } finally {
    await app.close();
  }
}
