import { resolve } from "node:path";
import { z } from "zod";
import { defineOperation } from "../operation.ts";
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
  cli: [
    {
      verb: "backup",
      args: ["to"],
      show: showCopied,
      example: "backup /backups/monday",
    },
  ],
  mcp: OF_THIS_MACHINE,
  handle: async ({ app }, { to }) => (await app.dataFolder()).backUp(resolve(to)),
});

export const restoreData = defineOperation({
  id: "restoreData",
  summary: "Make the data folder from a backup; nobody may be at work on it",
  scope: "admin",
  effect: "destroys",
  input: z.strictObject({
    from: z.string().min(1).describe("What `backup` has made."),
    replace: z.boolean().default(false).describe("Move data that is there aside."),
  }),
  output: copied,
  errors: ["BACKUP_INVALID", "DATA_EXISTS", "DATA_LOCKED"],
  http: OF_THIS_MACHINE,
  cli: [
    {
      verb: "restore",
      args: ["from"],
      show: showCopied,
      example: "restore /backups/monday",
    },
  ],
  mcp: OF_THIS_MACHINE,
  handle: async ({ app }, { from, replace }) => (await app.dataFolder()).restore(resolve(from), replace),
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
    parts: z.int().describe("How many objects of a bucket were removed that no stored file refers to."),
    bytes: z.int().describe("How large values and objects were."),
  }),
  errors: ["STORAGE_SHARED"],
  http: OF_THIS_MACHINE,
  cli: [
    {
      verb: "gc",
      show: ({ runs, blobs, bytes }, { dry_run: onlyLooks }) => ({
        data: `${onlyLooks === true ? "Would remove" : "Removed"} ${runs} runs, ${blobs} values, ${bytes} bytes`,
      }),
      example: "gc --dry-run",
    },
  ],
  mcp: OF_THIS_MACHINE,
  handle: async ({ app }, { dry_run: onlyLooks }) => {
    // Refused before anything is deleted where its values are not this machine's to collect.
    const folder = await app.dataFolder();
    const removed = await removeOldRuns(app, { onlyLooks });
    const collected = await folder.collect(onlyLooks);
    return { runs: countRemoved(removed), runs_by_status: removed, ...collected };
  },
});

const moved = z.object({
  place: z.string().describe("The data folder, or the database without its password."),
  runs: z.int(),
  events: z.int().describe("How many events they have."),
  records: z.int().describe("Schedules, keys, deliveries, budgets and all else that is recorded beside runs."),
  values: z.int().describe("How many large values there are."),
  files: z.int().describe("How many stored files and artifacts there are."),
  told: z.array(z.string()).describe("What to know beside it."),
});

function describeMoved({ runs, events, records, values, files }: z.output<typeof moved>): string {
  return `${runs} runs with ${events} events, ${records} records, ${values} values, ${files} files`;
}

export const exportAllData = defineOperation({
  id: "exportAllData",
  summary: "Write runs, records, values and files into one file, from a data folder or a database",
  scope: "admin",
  effect: "writes",
  input: z.strictObject({ file: z.string().min(1).describe("The file to make. It must not be there.") }),
  output: moved.extend({ bytes: z.int().describe("How large the file is.") }),
  errors: ["BACKUP_EXISTS", "DATA_LOCKED", "BLOB_MISSING"],
  http: OF_THIS_MACHINE,
  cli: [
    {
      verb: "data export",
      args: ["file"],
      show: (output, { file }) => ({
        data: `${file}: ${describeMoved(output)}, ${output.bytes} bytes`,
        told: [
          ...output.told,
          "Start nothing on the old data once this is imported elsewhere: the same steps would run in both places.",
        ],
      }),
      example: "data export /backups/all.pawl",
    },
  ],
  mcp: OF_THIS_MACHINE,
  handle: async ({ app }, { file }) => toOutput(await (await app.dataMover()).exportTo(resolve(file))),
});

export const importAllData = defineOperation({
  id: "importAllData",
  summary: "Read what `data export` has written into an empty data folder or database, and compare it",
  scope: "admin",
  effect: "writes",
  input: z.strictObject({ file: z.string().min(1).describe("What `data export` has made.") }),
  output: moved.extend({
    equal_histories: z.int().describe("How many runs have the same history as in the file: all."),
  }),
  errors: ["EXPORT_INVALID", "EXPORT_NEWER", "EXPORT_KEY", "EXPORT_UNEQUAL", "DATA_EXISTS", "DATA_LOCKED"],
  http: OF_THIS_MACHINE,
  cli: [
    {
      verb: "data import",
      args: ["file"],
      show: (output) => ({
        data: `${output.place}: ${describeMoved(output)}; ${output.equal_histories} equal histories`,
        told: output.told,
      }),
      example: "data import /backups/all.pawl",
    },
  ],
  mcp: OF_THIS_MACHINE,
  handle: async ({ app }, { file }) => {
    const imported = toOutput(await (await app.dataMover()).importFrom(resolve(file)));
    return { ...imported, equal_histories: imported.runs };
  },
});

function toOutput<Moved extends { readonly told: readonly string[] }>(output: Moved) {
  return { ...output, told: [...output.told] };
}
