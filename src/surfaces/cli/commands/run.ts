import type { OpenApplication, StartClock } from "../../../operations/application/ports.ts";
import { toUseLimits } from "../../../operations/limits/use-limits.ts";
import type { MissingInput } from "../../../operations/start/input/check-input.ts";
import { type PreparedRun, prepareRun } from "../../../operations/start/prepare-run.ts";
import { callHere } from "../call-here.ts";
import { type CommandParts, type CommonOptions, type Format, formatOf, isInteractive } from "../cli-context.ts";
import { INTERRUPTED, showRunToRest } from "../follow/show-run-to-rest.ts";
import { print, printEnvelope, tell } from "../print.ts";
import { shortId } from "../render/text/formats.ts";

export interface RunOptions extends CommonOptions {
  /** `key=value` each. */
  readonly i?: readonly string[];
  readonly input?: string;
  readonly request?: string;
  readonly agent?: string;
  readonly maxCost?: number;
  readonly maxTokens?: number;
  readonly maxSteps?: number;
  readonly maxSeconds?: number;
  readonly onExceeded?: "stop" | "ask";
  readonly priority?: number;
  readonly detach?: true;
}

/** `pawl step`: one step alone, with its mapped input. */
export async function step(parts: CommandParts, workflow: string, id: string, options: RunOptions): Promise<number> {
  return run(parts, workflow, options, id);
}

/** `pawl run`: starts a workflow and follows it, or hands it to a process in the background. */
export async function run(
  parts: CommandParts,
  workflow: string,
  options: RunOptions,
  onlyStep?: string,
): Promise<number> {
  const clock = parts.app.startClock();
  try {
    return await clock.race(start({ ...parts, clock, onlyStep }, workflow, options));
  } finally {
    clock.stop();
  }
}

type Start = CommandParts & { readonly clock: StartClock; readonly onlyStep: string | undefined };

async function start({ app, voice, clock, onlyStep }: Start, workflow: string, options: RunOptions): Promise<number> {
  const { maxTokens: max_tokens, maxSteps: max_steps, maxSeconds: max_seconds } = options;
  const uses = toUseLimits({ max_tokens, max_steps, max_seconds });
  const format = formatOf(options);
  const left = new AbortController();
  const askFor = async (missing: readonly MissingInput[]) =>
    clock.pausedFor((await import("./ask-input.ts")).askInput(missing, left));
  const prepared = await prepareRun(app, {
    workflow,
    folder: process.cwd(),
    inputPairs: options.i ?? [],
    onlyStep,
    inputFile: options.input,
    requestFile: options.request,
    agent: options.agent,
    uses,
    onExceeded: options.onExceeded,
    priority: options.priority,
    maxCostUsd: options.maxCost,
    ...(format === "text" && isInteractive() ? { askFor } : {}),
  }).catch((error: unknown) => {
    if (left.signal.aborted) return undefined;
    throw error;
  });
  if (prepared === undefined) return INTERRUPTED;
  for (const { rendered } of prepared.definition.warnings ?? []) tell(rendered);
  if (options.detach === true) return detach(app, prepared, format);
  const { graph } = prepared.definition;
  const begin = async () => {
    const host = await app.host();
    await clock.race(host.startRun(prepared), `process ${host.ownerPid}, which records the run`);
    clock.stop();
  };
  const caller = callHere(app, { starts: "here" });
  return showRunToRest(caller, { runId: prepared.runId, format, start: { graph, begin } }, { voice });
}

async function detach(app: OpenApplication, prepared: PreparedRun, format: Format): Promise<number> {
  const host = await app.backgroundHost({ onlyStarts: true });
  const { id } = await host.startRun(prepared);
  if (format === "text") {
    print(id);
    const drivers = (await app.database?.()?.look())?.drivers;
    tell(`${whereItGoesOn(drivers, host.ownerPid)} See it with: pawl runs show ${shortId(id)}`);
  } else {
    printEnvelope({ run_id: id });
  }
  return 0;
}

/** `drivers`: the processes that drive runs of the database. Undefined: there is none. */
function whereItGoesOn(drivers: number | undefined, pid: number | undefined): string {
  if (drivers === undefined) return `The run is under way in process ${pid}.`;
  if (drivers > 0) return "The run goes on in a process that drives the runs of the database.";
  return "The run waits: no process drives the runs of the database now. Start one with: pawl worker.";
}
