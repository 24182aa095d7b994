import { z } from "zod";
import { isPawlError, type PawlError } from "../../core/errors/pawl-error.ts";
import type { Ports } from "../application/ports.ts";

const partSchema = z.enum(["ok", "error", "off"]).describe("`off`: not configured.");

type PartHealth = z.output<typeof partSchema>;

export const healthSchema = z.object({
  status: z.enum(["ok", "degraded"]),
  sandstorm: partSchema,
  redis: partSchema,
  db: partSchema,
  restate: partSchema.optional().describe("The Restate server that drives the runs. Absent: processes of Pawl do."),
  storage: partSchema.optional().describe("The bucket of large values and files. Absent: they are in the data folder."),
});

/** How the parts are that the service stands on. Never throws. */
export async function describeHealth(
  app: Pick<Ports, "checkAgentServer" | "records" | "storageTrouble" | "checkBucket" | "checkRedis" | "restate">,
): Promise<z.output<typeof healthSchema>> {
  const [sandstorm, redis, db, storage, restate] = await Promise.all([
    checkPart(() => app.checkAgentServer()),
    checkPart(async () => toHealth(await app.checkRedis?.())),
    checkPart(() => checkJournal(app)),
    checkPart(async () => toHealth(await app.checkBucket?.())),
    checkPart(async () => toHealth(await checkRestate(app))),
  ]);
  const isDegraded = [sandstorm, redis, db, storage, restate].includes("error");
  const parts = { sandstorm, redis, db, ...(restate === "off" ? {} : { restate }) };
  return { status: isDegraded ? "degraded" : "ok", ...parts, ...(storage === "off" ? {} : { storage }) };
}

/** Why what is asked for now could not be kept or done. Undefined: it could. */
export async function findTrouble(
  app: Pick<Ports, "storageTrouble" | "checkBucket" | "restate">,
): Promise<PawlError | undefined> {
  return (await app.storageTrouble?.()) ?? (await app.checkBucket?.())?.trouble ?? (await checkRestate(app))?.trouble;
}

/** Whether the server answers that drives the runs. One that knows no endpoint yet is told of it while this process is up. */
async function checkRestate(app: Pick<Ports, "restate">): Promise<{ readonly trouble?: PawlError } | undefined> {
  const care = app.restate?.();
  if (care === undefined) return undefined;
  try {
    await care.isRegistered();
    return {};
  } catch (error) {
    if (!isPawlError(error)) throw error;
    return { trouble: error };
  }
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
