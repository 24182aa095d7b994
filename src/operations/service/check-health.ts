import type { Application } from "../application/application.ts";

/** `off`: not configured, so nothing depends on it. */
type PartHealth = "ok" | "error" | "off";

export interface Health {
  readonly sandstorm: PartHealth;
  readonly redis: PartHealth;
  readonly db: PartHealth;
}

/** How the parts are that the service stands on. Never throws. */
export async function checkHealth(app: Pick<Application, "checkAgentServer" | "records">): Promise<Health> {
  const [sandstorm, db] = await Promise.all([checkSandstorm(app), checkJournal(app)]);
  return { sandstorm, redis: "off", db };
}

async function checkSandstorm(app: Pick<Application, "checkAgentServer">): Promise<PartHealth> {
  try {
    const health = await app.checkAgentServer();
    if (health === undefined) return "off";
    return health.ok ? "ok" : "error";
  } catch {
    return "error";
  }
}

async function checkJournal(app: Pick<Application, "records">): Promise<PartHealth> {
  try {
    await (await app.records()).journal.listRuns({ limit: 1 });
    return "ok";
  } catch {
    return "error";
  }
}
