import { once } from "node:events";
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { ALL_SETTINGS } from "../../config/settings.ts";
import { isPawlError } from "../../core/errors/pawl-error.ts";
import { describeGrant } from "../../core/trust/describe-grant.ts";
import { covers, SENT } from "../../core/trust/grant.ts";
import { grantOfText } from "../../core/trust/parse-grant.ts";
import { missingAgentsFile } from "../agents/missing-agents-file.ts";
import type { Application } from "../application/application.ts";
import { checkDatabaseState } from "../database/describe-database.ts";
import { makeFolder } from "../templates/make-folder.ts";

/** One thing that was looked at. Only `error` means that runs will not work. */
export interface Check {
  readonly name: string;
  readonly state: "ok" | "note" | "error";
  readonly detail: string;
  readonly remedy?: string;
}

/** Looks at everything that a run needs. */
export async function runDoctor(app: Application): Promise<readonly Check[]> {
  return [
    checkNode(),
    { name: "application", state: "ok", detail: app.appDir },
    await attempt("data directory", () => checkDataDir(app)),
    await attempt("owner", () => checkOwner(app)),
    ...(await attemptAll("database", () => checkDatabase(app))),
    await attempt("journal", () => checkJournal(app)),
    ...(await attemptAll("storage", () => checkBucket(app))),
    ...(await attemptAll("redis", () => checkRedis(app))),
    checkConfiguration(app),
    await attempt("sandbox", () => checkSandbox(app)),
    await attempt("port", () => checkPort(app)),
    await attempt("agents", () => checkAgents(app)),
    checkModelKeys(app),
    ...(await attemptAll("grants", () => checkGrants(app))),
    ...checkAgentsFile(app),
    ...(await checkToolServers(app)),
    ...unusedSettings(app),
  ];
}

const OLDEST = [22, 13] as const;

function checkNode(): Check {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isNew = major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
  const detail = `${process.version} (${process.execPath})`;
  if (isNew) return { name: "node", state: "ok", detail };
  return { name: "node", state: "error", detail, remedy: `Install Node ${OLDEST.join(".")} or newer.` };
}

/** Tells the places that settings come from, not their values. */
function checkConfiguration({ config }: Application): Check {
  const origins = new Set([...config.origins.values()].filter((origin) => origin !== "default"));
  const count = config.origins.size === 1 ? "1 setting" : `${config.origins.size} settings`;
  const detail = origins.size === 0 ? "nothing is set" : `${count} from ${[...origins].join(", ")}`;
  return { name: "configuration", state: "ok", detail };
}

async function checkSandbox(app: Application): Promise<Omit<Check, "name">> {
  const { sandbox: mode } = app.config.settings.code;
  if (mode === "off") return { state: "note", detail: "switched off by `code.sandbox`: scripts may do what you may" };
  const { ok, detail, remedy = "See docs/code-steps.md." } = await app.checkSandbox();
  if (ok) return { state: "ok", detail };
  if (mode === "auto") {
    const plain = "scripts run as plain processes, which may do what you may (`code.sandbox: auto`)";
    return { state: "note", detail: `${detail}; ${plain}`, remedy };
  }
  const accept = "Or set `code.sandbox: off`, and scripts may do what you may.";
  return { state: "error", detail: `${detail}; steps that run code are refused`, remedy: `${remedy} ${accept}` };
}

/** Whether `pawl serve` could listen where it is configured to. */
async function checkPort(app: Application): Promise<Omit<Check, "name">> {
  const { host, port } = app.config.settings.server;
  const owner = await app.findOwner();
  if (owner.state === "held" && owner.url !== undefined) return { state: "ok", detail: `pawl serves at ${owner.url}` };
  const problem = await tryToListen(host, port);
  if (problem === undefined) return { state: "ok", detail: `${host}:${port} is free for \`pawl serve\`` };
  return { state: "note", detail: `${host}:${port}: ${problem}`, remedy: "Use another one: pawl serve --port 0" };
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
async function checkGrants(app: Application): Promise<readonly Check[]> {
  const keyless = grantOfText(app.config.settings.server.grant);
  const { mayNot } = describeGrant(keyless);
  const limits = mayNot.length === 0 ? "may do everything that you may" : `may not ${mayNot.join(", ")}`;
  const first: Check = {
    name: "grants",
    state: covers(SENT, keyless) ? "ok" : "note",
    detail: `texts that come without a key ${limits}`,
  };
  const usual = describeGrant(SENT).may;
  const keys = await (await app.service()).keys.list({});
  const more = keys.flatMap(({ name, grant = SENT, revokedAt }): Check[] => {
    if (revokedAt !== undefined || covers(SENT, grant)) return [];
    const beyond = describeGrant(grant).may.filter((line) => !usual.includes(line));
    return [{ name: `key ${name}`, state: "note", detail: `texts that come with it may ${beyond.join(", ")}` }];
  });
  return [first, ...more];
}

/** That they are there; what they are is nobody's business. */
function checkModelKeys({ config }: Application): Check {
  const { anthropic_api_key, openai_api_key, google_api_key } = config.settings.agent;
  const keys = { Anthropic: anthropic_api_key, OpenAI: openai_api_key, Google: google_api_key };
  const there = Object.entries(keys).flatMap(([name, key]) => (key === undefined ? [] : [name]));
  if (there.length > 0) return { name: "model keys", state: "ok", detail: `of ${there.join(", ")}` };
  const remedy = "Models of a provider need one, e.g. ANTHROPIC_API_KEY.";
  return { name: "model keys", state: "note", detail: "none is set", remedy };
}

async function attempt(name: string, check: () => Promise<Omit<Check, "name">>): Promise<Check> {
  return check().then(
    (found) => ({ name, ...found }),
    (error) => toFailedCheck(name, error),
  );
}

function attemptAll(name: string, checks: () => Promise<readonly Check[]>): Promise<readonly Check[]> {
  return checks().catch((error) => [toFailedCheck(name, error)]);
}

/** What cannot be looked at is a result of its own. */
function toFailedCheck(name: string, error: unknown): Check {
  const detail = error instanceof Error ? error.message : String(error);
  return { name, state: "error", detail, ...(isPawlError(error) ? { remedy: error.remedy } : {}) };
}

/** The rights of everybody but the owner of a file. */
const OTHERS = 0o077;

async function checkDataDir({ dataDir }: Application): Promise<Omit<Check, "name">> {
  try {
    await makeFolder(dataDir, 0o700);
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    if (((await stat(dataDir)).mode & OTHERS) === 0) return { state: "ok", detail: dataDir };
    const detail = `${dataDir} can be read by other users of this machine, and holds what runs were given`;
    return { state: "note", detail, remedy: `chmod -R go= '${dataDir.replaceAll("'", "'\\''")}'` };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return { state: "error", detail, remedy: "Make it writable, or name another folder with --data DIR." };
  }
}

async function checkOwner(app: Application): Promise<Omit<Check, "name">> {
  const owner = await app.findOwner();
  if (owner.state === "free") return { state: "ok", detail: "nobody drives runs here right now" };
  return { state: "ok", detail: `process ${owner.pid ?? "?"} on ${owner.host ?? "?"} drives the runs` };
}

async function checkJournal(app: Application): Promise<Omit<Check, "name">> {
  const { journal } = await app.records();
  const open = await journal.listRuns({ status: ["queued", "running", "waiting", "awaiting_approval"], limit: 1_000 });
  const { data, database } = app.config.settings;
  const place = database.url === undefined ? `durability: ${data.durability}` : "in the database";
  return { state: "ok", detail: `${open.length} unfinished runs, ${place}` };
}

async function checkDatabase(app: Application): Promise<readonly Check[]> {
  const state = await app.database?.()?.look();
  return state === undefined ? [] : checkDatabaseState(state).map((finding) => ({ name: "database", ...finding }));
}

async function checkBucket(app: Application): Promise<readonly Check[]> {
  const found = await app.checkBucket?.();
  if (found === undefined) return app.config.settings.database.url === undefined ? [] : [onThisMachine(app.dataDir)];
  const { place, trouble } = found;
  if (trouble === undefined) return [{ name: "storage", state: "ok", detail: `${place} can be written` }];
  return [{ name: "storage", state: "error", detail: trouble.message, remedy: trouble.remedy }];
}

async function checkRedis(app: Application): Promise<readonly Check[]> {
  const { redis, database } = app.config.settings;
  if (redis.url === undefined) return [];
  if (database.url === undefined) {
    const detail = "REDIS_URL is set and DATABASE_URL is not: one process has nobody to wake";
    return [{ name: "redis", state: "note", detail, remedy: "Take REDIS_URL out, or set DATABASE_URL." }];
  }
  const trouble = (await app.checkRedis?.())?.trouble;
  if (trouble === undefined)
    return [{ name: "redis", state: "ok", detail: "it wakes processes and carries what they tell" }];
  const detail = `it does not answer: ${trouble}`;
  const remedy =
    "Check REDIS_URL and the server. Runs go on meanwhile; processes hear of one another up to a second later.";
  return [{ name: "redis", state: "error", detail, remedy }];
}

function onThisMachine(dataDir: string): Check {
  return {
    name: "storage",
    state: "note",
    detail: `large values and stored files lie in ${dataDir}, where processes of the database on other machines do not find them`,
    remedy: "Set STORAGE_BACKEND=s3 and STORAGE_BUCKET for all of them, before there is a second machine.",
  };
}

async function checkAgents(app: Application): Promise<Omit<Check, "name">> {
  const { provider } = app.config.settings.agent;
  if (provider !== undefined) return { state: "ok", detail: `${provider}, as configured by \`agent.provider\`` };
  const health = await app.checkAgentServer();
  if (health === undefined) {
    return {
      state: "note",
      detail: "no one is configured to answer agent steps",
      remedy: "Set SANDSTORM_URL, or run with `--agent simulated`.",
    };
  }
  const detail = `sandstorm: ${health.detail}`;
  return health.ok
    ? { state: "ok", detail }
    : { state: "error", detail, remedy: "Check SANDSTORM_URL and the server." };
}

function checkAgentsFile(app: Application): readonly Check[] {
  const missing = missingAgentsFile(app);
  if (missing === undefined) return [];
  return [{ name: "agents file", state: "error", detail: missing.message, remedy: missing.remedy }];
}

/** Long enough for a program that is first fetched. */
const CONNECT_MS = 40_000;

/** Connects each: a server that is only known has not been looked at. */
async function checkToolServers(app: Application): Promise<readonly Check[]> {
  const toolbox = await app.toolbox();
  if ((await toolbox.states()).length === 0) return [];
  await toolbox.offer({}, AbortSignal.timeout(CONNECT_MS)).catch(() => undefined);
  return (await toolbox.states()).map(({ server, origin, transport, state, tools = 0, lastFailure }) => {
    const name = `MCP server ${server}`;
    if (state === "ready") return { name, state: "ok", detail: `${tools} tools over ${transport}` };
    const detail = lastFailure ?? `it did not answer within ${CONNECT_MS / 1_000} s`;
    return { name, state: "note", detail, remedy: `Correct it in ${origin}, or take it out.` };
  });
}

/** Said here once instead of on every run. */
function unusedSettings({ config }: Application): readonly Check[] {
  return ALL_SETTINGS.flatMap(({ path, later }): Check[] => {
    const origin = config.origins.get(path);
    if (origin === undefined || later === undefined) return [];
    const detail = `${path} (${origin}) is accepted and not used by this version. ${later}.`;
    return [{ name: "configuration", state: "note", detail }];
  });
}
