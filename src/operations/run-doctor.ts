import { constants } from "node:fs";
import { access, mkdir } from "node:fs/promises";
import { SETTING_NAMES } from "../config/setting-names.ts";
import { isPawlError } from "../core/errors/pawl-error.ts";
import type { Application } from "./application.ts";
import { missingAgentsFile } from "./missing-agents-file.ts";

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
    { name: "node", state: "ok", detail: `${process.version} (${process.execPath})` },
    { name: "application", state: "ok", detail: app.appDir },
    await attempt("data directory", () => checkDataDir(app)),
    await attempt("owner", () => checkOwner(app)),
    await attempt("journal", () => checkJournal(app)),
    await attempt("agents", () => checkAgents(app)),
    ...checkAgentsFile(app),
    ...(await checkToolServers(app)),
    ...unusedSettings(app),
  ];
}

async function attempt(name: string, check: () => Promise<Omit<Check, "name">>): Promise<Check> {
  try {
    return { name, ...(await check()) };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return { name, state: "error", detail, ...(isPawlError(error) ? { remedy: error.remedy } : {}) };
  }
}

async function checkDataDir({ dataDir }: Application): Promise<Omit<Check, "name">> {
  await mkdir(dataDir, { recursive: true });
  await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  return { state: "ok", detail: dataDir };
}

async function checkOwner(app: Application): Promise<Omit<Check, "name">> {
  const owner = await app.findOwner();
  if (owner.state === "free") return { state: "ok", detail: "nobody drives runs here right now" };
  return { state: "ok", detail: `process ${owner.pid ?? "?"} on ${owner.host ?? "?"} drives the runs` };
}

async function checkJournal(app: Application): Promise<Omit<Check, "name">> {
  const { journal } = await app.records();
  const open = await journal.listRuns({ status: ["queued", "running", "waiting", "awaiting_approval"], limit: 1_000 });
  const { durability } = app.config.settings.data;
  return { state: "ok", detail: `${open.length} unfinished runs, durability: ${durability}` };
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
  const notes = SETTING_NAMES.flatMap(({ section, key, later }) => {
    const setting = `${section}.${key}`;
    const origin = config.origins.get(setting);
    const isUnusedBackend = setting === "storage.backend" && config.settings.storage.backend === "s3";
    const instead = isUnusedBackend ? "Files are kept in the data directory" : later;
    return origin === undefined || instead === undefined ? [] : [{ setting, origin, instead }];
  });
  return notes.map(({ setting, origin, instead }) => ({
    name: "configuration",
    state: "note",
    detail: `${setting} (${origin}) is accepted and not used by this version. ${instead}.`,
  }));
}
