import { resolve } from "node:path";
import { z } from "zod";
import type { Care, Driving, Place, Stores } from "../application/ports.ts";
import { defineOperation, type OperationContext } from "../operation.ts";
import { countRemoved, removeOldRuns } from "./retention.ts";

const OF_THIS_MACHINE = { no: "It is about files of this machine." };

const copied = z.object({
  path: z.string().describe("Where the copy is."),
  files: z.int().describe("How many files it has."),
  bytes: z.int().describe("How large they are."),
  elsewhere: z.string().optional().describe("The bucket of large values and stored files, which are not in the copy."),
});

function showCopied({ path, files, bytes, elsewhere }: z.output<typeof copied>) {
  const data = `${path}: ${files} files, ${bytes} bytes`;
  if (elsewhere === undefined) return { data };
  const told = `Large values and stored files are in ${elsewhere}, and not in the backup: keep versions or a copy of it.`;
  return { data, told: [told] };
}

export const backUpData = defineOperation({
  id: "backUpData",
  summary: "Copy all data to a new folder, while a server may be at work",
  scope: "admin",
  effect: "writes",
  input: z.strictObject({ to: z.string().min(1).describe("The folder to make. It must not be there.") }),
  output: copied,
  errors: ["BACKUP_EXISTS", "BACKUP_INVALID"],
  http: OF_THIS_MACHINE,
  cli: { verb: "backup", args: ["to"], show: showCopied, example: "backup /backups/monday" },
  mcp: OF_THIS_MACHINE,
  handle: async ({ app }: OperationContext<Care>, { to }) => (await app.dataFolder()).backUp(resolve(to)),
});

export const restoreData = defineOperation({
  id: "restoreData",
  summary: "Make the data folder from a backup, while no process works on it",
  scope: "admin",
  effect: "destroys",
  input: z.strictObject({
    from: z.string().min(1).describe("What `backup` has made."),
    replace: z.boolean().default(false).describe("Move data that is there aside."),
  }),
  output: copied,
  errors: ["BACKUP_INVALID", "DATA_EXISTS", "DATA_LOCKED"],
  http: OF_THIS_MACHINE,
  cli: { verb: "restore", args: ["from"], show: showCopied, example: "restore /backups/monday" },
  mcp: OF_THIS_MACHINE,
  handle: async ({ app }: OperationContext<Care>, { from, replace }) =>
    (await app.dataFolder()).restore(resolve(from), replace),
});

export const collectGarbage = defineOperation({
  id: "collectGarbage",
  summary: "Delete the runs that `data.keep` does not keep, and large values that no run refers to any more",
  scope: "admin",
  effect: "destroys",
  input: z.strictObject({ dry_run: z.boolean().default(false).describe("Only say what would be removed.") }),
  output: z.object({
    runs: z.int().describe("How many runs were deleted."),
    runs_by_status: z.record(z.string(), z.int()),
    blobs: z.int().describe("How many values were removed."),
    bytes: z.int().describe("How large they were."),
  }),
  errors: ["STORAGE_SHARED"],
  http: OF_THIS_MACHINE,
  cli: {
    verb: "gc",
    show: ({ runs, blobs, bytes }, { dry_run: onlyLooks }) => ({
      data: `${onlyLooks === true ? "Would remove" : "Removed"} ${runs} runs, ${blobs} values, ${bytes} bytes`,
    }),
    example: "gc --dry-run",
  },
  mcp: OF_THIS_MACHINE,
  handle: async ({ app }: OperationContext<Place & Stores & Driving & Care>, { dry_run: onlyLooks }) => {
    // Refused before anything is deleted where its values are not this machine's to collect.
    const folder = await app.dataFolder();
    const removed = await removeOldRuns(app, { onlyLooks });
    const collected = await folder.collect(onlyLooks);
    return { runs: countRemoved(removed), runs_by_status: removed, ...collected };
  },
});
