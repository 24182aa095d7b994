import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { AppHost, OpenApplication } from "../../../operations/application.ts";
import { type PreparedRun, prepareRun } from "../../../operations/prepare-run.ts";
import { type CommandParts, type CommonOptions, type Format, formatOf } from "../cli-context.ts";
import { driveRun } from "../drive-run.ts";
import { print, printEnvelope, tell } from "../print.ts";
import { shortId } from "../short-id.ts";

export interface RunOptions extends CommonOptions {
  /** `key=value` each. */
  readonly i?: readonly string[];
  readonly input?: string;
  readonly request?: string;
  readonly agent?: string;
  readonly maxCost?: number;
  readonly detach?: true;
}

/** `pawl run`: starts a workflow and follows it, or hands it to a process in the background. */
export async function run({ app, voice }: CommandParts, workflow: string, options: RunOptions): Promise<number> {
  if (options.request !== undefined) {
    throw new PawlError("NOT_SUPPORTED", {
      message: "`--request` belongs to UHLP workflows, which arrive in a later version.",
      remedy: "Give the input with `-i key=value` or `--input FILE.json`.",
    });
  }
  const prepared = await prepareRun(app, {
    workflow,
    folder: process.cwd(),
    inputPairs: options.i ?? [],
    ...(options.input === undefined ? {} : { inputFile: options.input }),
    ...(options.agent === undefined ? {} : { agent: options.agent }),
    ...(options.maxCost === undefined ? {} : { maxCostUsd: options.maxCost }),
  });
  const format = formatOf(options);
  if (options.detach === true) return detach(app, prepared, format);
  const { graph } = prepared.definition;
  const begin = (host: AppHost) => host.startRun(prepared);
  const { exitCode } = await driveRun(app, { runId: prepared.runId, graph, format, begin }, voice);
  return exitCode;
}

async function detach(app: OpenApplication, prepared: PreparedRun, format: Format): Promise<number> {
  const host = await app.backgroundHost();
  const { id } = await host.startRun(prepared);
  if (format === "text") {
    print(id);
    tell(`The run is under way in process ${host.ownerPid}. See it with: pawl runs show ${shortId(id)}`);
  } else {
    printEnvelope({ run_id: id });
  }
  return 0;
}
