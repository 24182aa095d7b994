import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import type { PawlClient } from "../../../client/pawl-client.ts";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import { writeExact } from "../../../core/exact-json.ts";
import { isJsonObject, type JsonObject } from "../../../core/json.ts";
import { looksLikeFile } from "../../../operations/definitions/looks-like-file.ts";
import type { Plan } from "../../../operations/plan/plan-schemas.ts";
import { gatherInput } from "../../../operations/start/input/gather-input.ts";
import { readRequestBody } from "../../../operations/start/input/read-request-file.ts";
import { callServer } from "../call-server.ts";
import { formatOf } from "../cli-context.ts";
import { type PlanOptions, showPlan } from "../commands/plan.ts";
import type { RunOptions } from "../commands/run.ts";
import { runExitCode } from "../follow/run-exit-code.ts";
import { openRunPrinter } from "../follow/run-printer.ts";
import { showRunToRest } from "../follow/show-run-to-rest.ts";
import { readSource } from "../perform-verb.ts";
import { print, printEnvelope, tell } from "../print.ts";
import { shortId } from "../render/text/formats.ts";
import type { RemoteParts } from "./perform-remotely.ts";

const AGENTS = ["sandstorm", "inline", "simulated"] as const;

/** `pawl run` by a server: a file of this machine is sent as it is, without the scripts and prompts that it names. */
export async function run(parts: RemoteParts, workflow: string, options: RunOptions): Promise<number> {
  const { client } = parts;
  if (options.request !== undefined) return runRequest(parts, { workflow, file: options.request }, options);
  const submission = {
    ...(await toSubmission(client, workflow, options)),
    ...toLimits(options),
    priority: options.priority,
    // Sent again after an answer that was lost, it starts nothing twice.
    idempotency_key: randomUUID(),
  };
  const { run_id: runId, warnings = [] } = await client.call("POST /workflows/run", submission);
  for (const { rendered } of warnings) tell(String(rendered).replace(/^<text>(?=:)/, workflow));
  if (options.detach !== true) {
    const caller = callServer(client, parts.voice);
    return showRunToRest(caller, { runId, format: formatOf(options) }, { voice: parts.voice });
  }
  if (formatOf(options) !== "text") printEnvelope({ run_id: runId });
  else {
    print(runId);
    tell(`The run is under way at ${client.url}. See it with: pawl runs watch ${shortId(runId)}`);
  }
  return 0;
}

export async function plan({ client }: RemoteParts, workflow: string, options: PlanOptions): Promise<number> {
  const assume = { output_tokens: options.outputTokens, tool_tokens: options.toolTokens };
  const request = { ...(await toSubmission(client, workflow, options)), assume };
  // The document is looser than what the server makes: it does not tell which fields come together.
  return showPlan((await client.call("POST /workflows/plan", request)) as Plan, options);
}

type Wanted = Pick<RunOptions, "i" | "input" | "agent" | "maxCost">;

async function toSubmission(client: PawlClient, reference: string, { i = [], input, agent, maxCost }: Wanted) {
  const { file, part } = toFile(reference);
  const workflow = file === undefined ? reference : `${await readSource(file)}\n`;
  const schema = file !== undefined || i.length === 0 ? undefined : await schemaOf(client, reference);
  const values = await gatherInput({ pairs: i, folder: process.cwd(), file: input }, schema);
  return { workflow, input: values, part, agent: toAgent(agent), max_cost_usd: maxCost };
}

/** Names may hold `#` as well: what counts is the first one behind a file. No file: it is a name that the server knows. */
function toFile(reference: string): { readonly file?: string; readonly part?: string } {
  if (existsSync(reference)) return { file: reference };
  for (let hash = reference.indexOf("#"); hash > 0; hash = reference.indexOf("#", hash + 1)) {
    const file = reference.slice(0, hash);
    if (existsSync(file)) return { file, part: reference.slice(hash + 1) };
  }
  return looksLikeFile(reference) ? { file: reference } : {};
}

/** Beside `max_cost_usd`, which a plan takes as well. */
function toLimits({ maxTokens, maxSteps, maxSeconds, onExceeded }: RunOptions) {
  const limits = { max_tokens: maxTokens, max_steps: maxSteps, max_seconds: maxSeconds, on_exceeded: onExceeded };
  return Object.values(limits).every((limit) => limit === undefined) ? {} : { limits };
}

/** By which it is decided what is a text. */
async function schemaOf(client: PawlClient, name: string): Promise<JsonObject | undefined> {
  const { input_schema: schema } = await client.call("GET /workflows/{name}", { name });
  return isJsonObject(schema) ? schema : undefined;
}

function toAgent(written: string | undefined): (typeof AGENTS)[number] | undefined {
  const known = AGENTS.find((agent) => agent === written);
  if (known !== undefined || written === undefined) return known;
  throw new PawlError("LOCAL_ONLY", {
    message: `"${written}" is not an agent that a server offers.`,
    remedy: `Use one of ${AGENTS.join(", ")}: scripts of simulated agents are files of the machine that runs.`,
  });
}

/** `pawl run --request`: a server answers such a request when its run has ended, so that there is nothing to follow. */
async function runRequest(
  { client, voice }: RemoteParts,
  { workflow, file }: { readonly workflow: string; readonly file: string },
  options: RunOptions,
): Promise<number> {
  const { i, input, agent, maxCost, maxTokens, maxSteps, maxSeconds, onExceeded, priority, detach } = options;
  const others = { i, input, agent, maxCost, maxTokens, maxSteps, maxSeconds, onExceeded, priority, detach };
  const beside = Object.entries(others)
    .filter(([, value]) => value !== undefined)
    .map(([name]) => toFlag(name));
  if (beside.length > 0)
    throw new PawlError("USAGE", {
      message: `\`--request\` is all that a server is sent: it takes no ${beside.join(", ")} beside it.`,
      remedy: "Leave one of them out.",
    });
  const request = await readRequestBody({ file, folder: process.cwd(), workflowId: workflow });
  const response = await client.request("/execute", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: writeExact(request),
  });
  const runId = response.headers.get("x-run-id") ?? "";
  const run = await client.call("GET /runs/{id}", { id: runId });
  const printer = await openRunPrinter(formatOf(options), voice);
  await printer.end(run);
  return runExitCode(run);
}

function toFlag(option: string): string {
  return option === "i" ? "-i" : `--${option.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
