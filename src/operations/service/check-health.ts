import { z } from "zod";
import type { Ports } from "../application/ports.ts";

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
  app: Pick<Ports, "checkAgentServer" | "records" | "storageTrouble" | "checkBucket" | "checkRedis">,
): Promise<z.output<typeof healthSchema>> {
  const [sandstorm, redis, db, storage] = await Promise.all([
    checkPart(() => app.checkAgentServer()),
    checkPart(async () => toHealth(await app.checkRedis?.())),
    checkPart(() => checkJournal(app)),
    checkPart(async () => toHealth(await app.checkBucket?.())),
  ]);
  const isDegraded = [sandstorm, redis, db, storage].includes("error");
  const parts = { sandstorm, redis, db };
  return { status: isDegraded ? "degraded" : "ok", ...parts, ...(storage === "off" ? {} : { storage }) };
}

/** `find` finds nothing if the part is not configured. */
async function checkPart(find: () => Promise<{ readonly ok: boolean } | undefined>): Promise<PartHealth> {
  try {
    const found = await find();
    if (found === undefined) return "off";
    return found.ok ? "ok" : "error";
  } catch {
    return "error";
  }
}

async function checkJournal(app: Pick<Ports, "records" | "storageTrouble">): Promise<{ readonly ok: boolean }> {
  if ((await app.storageTrouble?.()) !== undefined) return { ok: false };
  await (await app.records()).journal.listRuns({ limit: 1 });
  return { ok: true };
}

function toHealth<Found extends { readonly trouble?: unknown }>(found: Found | undefined) {
  return found && { ok: found.trouble === undefined };
}
