import { z } from "zod";
import type { Application } from "../application/application.ts";

const partSchema = z.enum(["ok", "error", "off"]).describe("`off`: not configured.");

type PartHealth = z.output<typeof partSchema>;

export const healthSchema = z.object({
  status: z.enum(["ok", "degraded"]),
  sandstorm: partSchema,
  redis: partSchema,
  db: partSchema,
  storage: partSchema.optional().describe("The bucket of large values and files. Absent: they are in the data folder."),
});

/** How the parts are that the service stands on. Never throws. */
export async function describeHealth(
  app: Pick<Application, "checkAgentServer" | "records" | "storageTrouble" | "checkBucket" | "checkRedis">,
): Promise<z.output<typeof healthSchema>> {
  const looks = [checkSandstorm(app), checkRedis(app), checkJournal(app), checkBucket(app)] as const;
  const [sandstorm, redis, db, storage] = await Promise.all(looks);
  const isDegraded = [sandstorm, redis, db, storage].includes("error");
  const parts = { sandstorm, redis, db };
  return { status: isDegraded ? "degraded" : "ok", ...parts, ...(storage === "off" ? {} : { storage }) };
}

async function checkRedis(app: Pick<Application, "checkRedis">): Promise<PartHealth> {
  try {
    const found = await app.checkRedis?.();
    if (found === undefined) return "off";
    return found.trouble === undefined ? "ok" : "error";
  } catch {
    return "error";
  }
}

async function checkBucket(app: Pick<Application, "checkBucket">): Promise<PartHealth> {
  try {
    const found = await app.checkBucket?.();
    if (found === undefined) return "off";
    return found.trouble === undefined ? "ok" : "error";
  } catch {
    return "error";
  }
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

async function checkJournal(app: Pick<Application, "records" | "storageTrouble">): Promise<PartHealth> {
  try {
    if ((await app.storageTrouble?.()) !== undefined) return "error";
    await (await app.records()).journal.listRuns({ limit: 1 });
    return "ok";
  } catch {
    return "error";
  }
}
