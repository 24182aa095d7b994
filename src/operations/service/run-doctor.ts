import { once } from "node:events";
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { relative } from "node:path";
import { z } from "zod";
import { ALL_SETTINGS } from "../../config/settings.ts";
import { isPawlError } from "../../core/errors/pawl-error.ts";
import { covers, describeGrant, SENT } from "../../core/trust/grant.ts";
import { grantOfText } from "../../core/trust/parse-grant.ts";
import type { TroubledInvocation } from "../../ports/restate-care.ts";
import { missingAgentsFile } from "../agents/missing-agents-file.ts";
import type { Care, Driving, Execution, Place, StartPorts, Stores } from "../application/ports.ts";
import { checkDatabaseState } from "../database/describe-database.ts";
import { registryOf } from "../definitions/load-options.ts";
import { readTextFile } from "../definitions/read-text-file.ts";
import { listRegistered } from "../definitions/registry.ts";
import { listTroubledRuns } from "../restate/troubled-runs.ts";
import type { Frozen } from "../schemas.ts";
import { chooseAgent } from "../start/choose-agent.ts";
import { findUnready } from "../start/preflight.ts";
import { makeFolder } from "../templates/make-folder.ts";

export const findingSchema = z
  .object({
    name: z.string().describe("What was looked at."),
    state: z.enum(["ok", "warning", "failed"]).describe("Only `failed` means that runs will not work."),
    message: z.string(),
    remedy: z.string().nullable().describe("What to do; null where there is nothing."),
  })
  .meta({ id: "Finding" });

export type Finding = Frozen<z.output<typeof findingSchema>>;

interface Check extends Omit<Finding, "remedy"> {
  readonly remedy?: string;
}

export interface DoctorOptions {
  /** How long MCP servers may take to be connected. 0: what is known of them is told, and none is connected. */
  readonly connectMs: number;
}

/** Looks at everything that a run needs. What does not answer in time is a finding too, so that nobody waits for ever. */
export async function runDoctor(
  app: StartPorts & Driving & Care,
  { connectMs }: DoctorOptions,
): Promise<readonly Finding[]> {
  const checks = await Promise.all([
    [checkNode(), { name: "application", state: "ok", message: app.appDir } as const],
    attempt("data directory", () => checkDataDir(app)),
    attempt("owner", () => checkOwner(app)),
    attemptAll("database", () => checkDatabase(app)),
    attempt("journal", () => checkJournal(app)),
    attemptAll("storage", () => checkBucket(app)),
    attemptAll("redis", () => checkRedis(app)),
    attemptAll("restate", () => checkRestate(app)),
    [checkConfiguration(app)],
    attempt("sandbox", () => checkSandbox(app)),
    attempt("port", () => checkPort(app)),
    attempt("agents", () => checkAgents(app)),
    checkModelKeys(app),
    attemptAll("grants", () => checkGrants(app)),
    checkAgentsFile(app),
    attemptAll("MCP servers", () => checkToolServers(app, connectMs), connectMs + LONGEST_CHECK_MS),
    attemptAll("workflows", () => checkWorkflows(app, connectMs), connectMs + LONGEST_CHECK_MS),
    unusedSettings(app),
  ]);
  return checks.flat().map(({ name, state, message, remedy }) => {
    return { name, state, message: app.mask(message), remedy: remedy ?? null };
  });
}

const LONGEST_CHECK_MS = 10_000;

const OLDEST = [22, 13] as const;

function checkNode(): Check {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isNew = major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
  const message = `${process.version} (${process.execPath})`;
  if (isNew) return { name: "node", state: "ok", message };
  return { name: "node", state: "failed", message, remedy: `Install Node ${OLDEST.join(".")} or newer.` };
}

/** Tells the places that settings come from, not their values. */
function checkConfiguration({ config }: Place): Check {
  const origins = new Set([...config.origins.values()].filter((origin) => origin !== "default"));
  const count = config.origins.size === 1 ? "1 setting" : `${config.origins.size} settings`;
  const message = origins.size === 0 ? "nothing is set" : `${count} from ${[...origins].join(", ")}`;
  return { name: "configuration", state: "ok", message };
}

async function checkSandbox(app: Place & Execution): Promise<Omit<Check, "name">> {
  const { sandbox: mode } = app.config.settings.code;
  if (mode === "off")
    return { state: "warning", message: "switched off by `code.sandbox`: scripts may do what you may" };
  const { ok, detail: message, remedy = "See docs/code-steps.md." } = await app.checkSandbox();
  if (ok) return { state: "ok", message };
  if (mode === "auto") {
    const plain = "scripts run as plain processes, which may do what you may (`code.sandbox: auto`)";
    return { state: "warning", message: `${message}; ${plain}`, remedy };
  }
  const accept = "Or set `code.sandbox: off`, and scripts may do what you may.";
  // Most workflows run no code.
  return { state: "warning", message: `${message}; steps that run code are refused`, remedy: `${remedy} ${accept}` };
}

/** Whether `pawl serve` could listen where it is configured to. */
async function checkPort(app: Place & Driving): Promise<Omit<Check, "name">> {
  const { host, port } = app.config.settings.server;
  const owner = await app.findOwner();
  if (owner.state === "held" && owner.url !== undefined) return { state: "ok", message: `pawl serves at ${owner.url}` };
  const problem = await tryToListen(host, port);
  if (problem === undefined) return { state: "ok", message: `${host}:${port} is free for \`pawl serve\`` };
  return { state: "warning", message: `${host}:${port}: ${problem}`, remedy: "Use another one: pawl serve --port 0" };
}

/** Why not; undefined: it can. */
async function tryToListen(host: string, port: number): Promise<string | undefined> {
  const server = createServer();
  try {
    await once(server.listen({ host, port }), "listening");
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    server.close();
  }
}

/** What may be reached by texts that come without a key, and with those keys that may do more than others. */
async function checkGrants(app: Place & Stores): Promise<readonly Check[]> {
  const keyless = grantOfText(app.config.settings.server.grant);
  const { mayNot } = describeGrant(keyless);
  const limits = mayNot.length === 0 ? "may do everything that you may" : `may not ${mayNot.join(", ")}`;
  const first: Check = {
    name: "grants",
    state: covers(SENT, keyless) ? "ok" : "warning",
    message: `texts that come without a key ${limits}`,
  };
  const usual = describeGrant(SENT).may;
  const keys = await (await app.service()).keys.list({});
  const more = keys.flatMap(({ name, grant = SENT, revokedAt }): Check[] => {
    if (revokedAt !== undefined || covers(SENT, grant)) return [];
    const beyond = describeGrant(grant).may.filter((line) => !usual.includes(line));
    return [{ name: `key ${name}`, state: "warning", message: `texts that come with it may ${beyond.join(", ")}` }];
  });
  return [first, ...more];
}

/** That they are there, not what they are. */
function checkModelKeys({ config }: Place): readonly Check[] {
  const name = "model keys";
  const { anthropic_api_key, openai_api_key, google_api_key } = config.settings.agent;
  const keys = { Anthropic: anthropic_api_key, OpenAI: openai_api_key, Google: google_api_key };
  const there = Object.entries(keys).flatMap(([name, key]) => (key === undefined ? [] : [name]));
  if (there.length > 0) return [{ name, state: "ok", message: `of ${there.join(", ")}` }];
  if (config.settings.models.default !== undefined) return [];
  const remedy = "Models of a provider need one, e.g. ANTHROPIC_API_KEY.";
  return [{ name, state: "warning", message: "none is set", remedy }];
}

function attempt(name: string, check: () => Promise<Omit<Check, "name">>): Promise<readonly Check[]> {
  return attemptAll(name, async () => [{ name, ...(await check()) }]);
}

async function attemptAll(
  name: string,
  checks: () => Promise<readonly Check[]>,
  longestMs = LONGEST_CHECK_MS,
): Promise<readonly Check[]> {
  const { promise, reject } = Promise.withResolvers<never>();
  const late = () => reject(new Error(`it did not answer within ${longestMs / 1_000} s`));
  const timer = setTimeout(late, longestMs);
  try {
    return await Promise.race([checks(), promise]);
  } catch (error) {
    return [toFailedCheck(name, error)];
  } finally {
    clearTimeout(timer);
  }
}

/** What cannot be looked at is a result of its own. */
function toFailedCheck(name: string, error: unknown): Check {
  const message = error instanceof Error ? error.message : String(error);
  return { name, state: "failed", message, ...(isPawlError(error) ? { remedy: error.remedy } : {}) };
}

/** The rights of everybody but the owner of a file. */
const OTHERS = 0o077;

async function checkDataDir({ dataDir }: Place): Promise<Omit<Check, "name">> {
  try {
    await makeFolder(dataDir, 0o700);
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    if (((await stat(dataDir)).mode & OTHERS) === 0) return { state: "ok", message: dataDir };
    const message = `${dataDir} can be read by other users of this machine, and holds what runs were given`;
    return { state: "warning", message, remedy: `chmod -R go= '${dataDir.replaceAll("'", "'\\''")}'` };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { state: "failed", message, remedy: "Make it writable, or name another folder with --data DIR." };
  }
}

async function checkOwner(app: Driving): Promise<Omit<Check, "name">> {
  const owner = await app.findOwner();
  if (owner.state === "free") return { state: "ok", message: "no process drives runs here right now" };
  return { state: "ok", message: `process ${owner.pid ?? "?"} on ${owner.host ?? "?"} drives the runs` };
}

async function checkJournal(app: Place & Stores): Promise<Omit<Check, "name">> {
  const { journal } = await app.records();
  const open = await journal.listRuns({ status: ["queued", "running", "waiting", "awaiting_approval"], limit: 1_000 });
  const { data, database } = app.config.settings;
  const place = database.url === undefined ? `durability: ${data.durability}` : "in the database";
  return { state: "ok", message: `${open.length} unfinished runs, ${place}` };
}

async function checkDatabase(app: Care): Promise<readonly Check[]> {
  const state = await app.database?.()?.look();
  return state === undefined ? [] : checkDatabaseState(state).map((finding) => ({ name: "database", ...finding }));
}

async function checkBucket(app: Place & Care): Promise<readonly Check[]> {
  const found = await app.checkBucket?.();
  if (found === undefined) return app.config.settings.database.url === undefined ? [] : [onThisMachine(app.dataDir)];
  const { place, trouble } = found;
  if (trouble === undefined) return [{ name: "storage", state: "ok", message: `${place} can be written` }];
  return [{ name: "storage", state: "failed", message: trouble.message, remedy: trouble.remedy }];
}

async function checkRedis(app: Place & Care): Promise<readonly Check[]> {
  const { redis, database } = app.config.settings;
  if (redis.url === undefined) return [];
  if (database.url === undefined) {
    const message = "REDIS_URL is set and DATABASE_URL is not: a single process needs no Redis";
    return [{ name: "redis", state: "warning", message, remedy: "Take REDIS_URL out, or set DATABASE_URL." }];
  }
  const trouble = (await app.checkRedis?.())?.trouble;
  if (trouble === undefined)
    return [{ name: "redis", state: "ok", message: "it wakes processes and carries what they tell" }];
  const message = `it does not answer: ${trouble}`;
  const remedy =
    "Check REDIS_URL and the server. Runs go on meanwhile; processes hear of one another up to a second later.";
  return [{ name: "redis", state: "failed", message, remedy }];
}

async function checkRestate(app: Stores & Care): Promise<readonly Check[]> {
  const restate = app.restate?.();
  if (restate === undefined) return [];
  const found = (check: Omit<Check, "name">): Check => ({ name: "restate", ...check });
  if (!(await restate.isRegistered())) {
    const remedy = "Start an endpoint with `pawl worker --restate`, then `pawl restate register`.";
    return [found({ state: "failed", message: `${restate.address} knows no endpoint, so that runs wait`, remedy })];
  }
  const drives = found({ state: "ok", message: `${restate.address} drives the runs` });
  return [drives, ...(await listTroubledRuns(app, restate)).map((invocation) => found(describeTroubled(invocation)))];
}

function describeTroubled(invocation: TroubledInvocation): Omit<Check, "name"> {
  const { runId, status, retries, failure = "no reason was given" } = invocation;
  if (status === "backing-off")
    return { state: "warning", message: `the run ${runId} has been tried ${retries} times: ${failure}` };
  if (status === "killed")
    return {
      state: "failed",
      message: `the run ${runId} was killed there`,
      remedy: "`pawl restate resume` has it go on. A cancel takes effect only then.",
    };
  const remedy = "Mend what it says, then `pawl restate resume`.";
  return { state: "failed", message: `the run ${runId} is paused: ${failure}`, remedy };
}

function onThisMachine(dataDir: string): Check {
  return {
    name: "storage",
    state: "warning",
    message: `large values and stored files lie in ${dataDir}, where processes of the database on other machines do not find them`,
    remedy: "Set STORAGE_BACKEND=s3 and STORAGE_BUCKET for all of them, before there is a second machine.",
  };
}

async function checkAgents(app: Place & Execution & Care): Promise<Omit<Check, "name">> {
  const question = { settings: {}, folder: app.appDir, readText: readTextFile };
  const chosen = await chooseAgent(question, app.config).catch((error: unknown) => {
    if (isPawlError(error) && error.code === "AGENT_NOT_CONFIGURED") return error;
    throw error;
  });
  if (isPawlError(chosen)) return { state: "warning", message: chosen.message, remedy: chosen.remedy };
  if (chosen.agent === "inline") {
    const { model = "", address, problem } = await (await app.prices()).reach(undefined, { forAgent: true });
    if (problem !== undefined) return { state: "failed", message: problem.message, remedy: problem.remedy };
    return {
      state: "ok",
      message: `agents of Pawl itself, with ${model}${address === undefined ? "" : ` at ${address}`}`,
    };
  }
  const health = chosen.agent === "sandstorm" ? await app.checkAgentServer() : undefined;
  if (health === undefined) return { state: "ok", message: `${chosen.agent}, as configured by \`agent.provider\`` };
  const message = `sandstorm: ${health.detail}`;
  return health.ok
    ? { state: "ok", message }
    : { state: "failed", message, remedy: "Check SANDSTORM_URL and the server." };
}

/** Which of the application's workflows could not be answered if they were started now. */
export async function checkWorkflows(app: StartPorts, toolsWithinMs: number): Promise<readonly Check[]> {
  const checks: Check[] = [];
  const registered = await listRegistered(registryOf(app));
  for (const { name: workflow, file, report } of registered) {
    const name = `workflow ${workflow}`;
    const path = relative(app.appDir, file);
    if (report.definition === undefined) {
      checks.push({
        name,
        state: "failed",
        message: `${path} has problems`,
        remedy: `See them with \`pawl validate ${path}\`.`,
      });
      continue;
    }
    const unready = await findUnready(app, { definition: report.definition, file }, toolsWithinMs);
    for (const { message, remedy } of unready) checks.push({ name, state: "failed", message, remedy });
  }
  if (checks.length > 0 || registered.length === 0) return checks;
  return [{ name: "workflows", state: "ok", message: `each of the ${registered.length} could be answered` }];
}

function checkAgentsFile(app: Place): readonly Check[] {
  const missing = missingAgentsFile(app);
  if (missing === undefined) return [];
  return [{ name: "agents file", state: "failed", message: missing.message, remedy: missing.remedy }];
}

/** A server that is only known has not been looked at. */
async function checkToolServers(app: Execution, connectMs: number): Promise<readonly Check[]> {
  const toolbox = await app.toolbox();
  if (connectMs > 0 && (await toolbox.states()).length > 0)
    await toolbox.offer({}, AbortSignal.timeout(connectMs)).catch(() => undefined);
  return (await toolbox.states()).map(({ server, origin, transport, state, tools = [], lastFailure }) => {
    const name = `MCP server ${server}`;
    if (state === "ready") return { name, state: "ok", message: `${tools.length} tools over ${transport}` };
    if (connectMs === 0 && lastFailure === undefined)
      return { name, state: "ok", message: "it is connected when it is needed" };
    const message = lastFailure ?? `it did not answer within ${connectMs / 1_000} s`;
    // A program that does not start is this machine's own; an address may answer later.
    const isOurs = transport === "stdio" && lastFailure !== undefined;
    const remedy = `${isOurs ? "Run its command by hand to read all that it writes. " : ""}Correct it in ${origin}, or take it out.`;
    return { name, state: isOurs ? "failed" : "warning", message, remedy };
  });
}

/** Said here once instead of on every run. */
function unusedSettings({ config }: Place): readonly Check[] {
  return ALL_SETTINGS.flatMap(({ path, later }): Check[] => {
    const origin = config.origins.get(path);
    if (origin === undefined || later === undefined) return [];
    const message = `${path} (${origin}) is accepted and not used by this version. ${later}.`;
    return [{ name: "configuration", state: "warning", message }];
  });
}
