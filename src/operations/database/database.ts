import { z } from "zod";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { DatabaseCare } from "../../ports/database-care.ts";
import type { Care } from "../application/ports.ts";
import { defineOperation, type OperationContext } from "../operation.ts";
import { describeDatabase, isHeldUp, tellOldest, toShownState } from "./describe-database.ts";

const FOR_OPERATORS = { no: "It is for operators: it works on the tables, not for a client of the service." };

const stepNames = z.array(z.string());

const stateSchema = z.object({
  host: z.string().describe("With its port."),
  name: z.string(),
  server_version: z.string(),
  steps_taken: stepNames.describe("Changes of the tables that were made, in their order."),
  steps_missing: stepNames.describe("Changes that this version needs. Every process that starts makes them."),
  steps_unknown: stepNames.describe("Changes that a newer version has made."),
  processes: z.int().describe("How many processes drive runs now."),
  oldest_transaction: z
    .object({
      pid: z.int().describe("The server's process."),
      program: z.string().describe("As it calls itself."),
      state: z.string().nullable().describe("As `pg_stat_activity` has it. Null: this user may not see it."),
      age_ms: z.int().nullable().describe("Null: this user may not see it."),
    })
    .nullable()
    .describe("The oldest one that has written and has not ended. `GET /events` tells nothing newer meanwhile."),
});

export const showDatabase = defineOperation({
  id: "showDatabase",
  summary: "Show how the database is that processes share",
  scope: "admin",
  effect: "reads",
  input: z.strictObject({}),
  output: stateSchema,
  errors: ["CONFIG_INVALID", "JOURNAL_IO"],
  http: FOR_OPERATORS,
  cli: {
    verb: "db status",
    show: (state) => ({
      data: describeDatabase(state).join("\n"),
      told: isHeldUp(state.oldest_transaction) ? tellOldest(state.oldest_transaction) : [],
    }),
  },
  mcp: FOR_OPERATORS,
  handle: async ({ app }: OperationContext<Care>) => toShownState(await databaseOf(app).look()),
});

export const migrateDatabase = defineOperation({
  id: "migrateDatabase",
  summary: "Bring the tables of the database up to date, while processes may be at work",
  scope: "admin",
  effect: { does: "writes", again: true },
  input: z.strictObject({}),
  output: stateSchema.extend({ taken: stepNames.describe("The steps that were missing before.") }),
  errors: ["CONFIG_INVALID", "JOURNAL_IO"],
  http: FOR_OPERATORS,
  cli: {
    verb: "db migrate",
    show: ({ taken, host, name }) => ({
      data:
        taken.length === 0
          ? `${host}/${name} is up to date`
          : [`${host}/${name} was brought up to date:`, ...taken.map((step) => `  ${step}`)].join("\n"),
    }),
  },
  mcp: FOR_OPERATORS,
  async handle({ app }: OperationContext<Care>) {
    const { taken, state } = await databaseOf(app).migrate();
    return { ...toShownState(state), taken: [...taken] };
  },
});

export const copyAllData = defineOperation({
  id: "copyAllData",
  summary: "Copy all data from a data folder or a database into the empty place that the settings name",
  scope: "admin",
  effect: "writes",
  input: z.strictObject({
    from: z.string().min(1).describe("A data folder, or the address of a PostgreSQL database."),
    files: z
      .string()
      .min(1)
      .optional()
      .describe("The data folder with the values and files of a database that keeps them in no bucket."),
  }),
  output: z.object({
    place: z.string().describe("The data folder, or the database without its password."),
    runs: z.int(),
    events: z.int().describe("How many events they have."),
    records: z.int().describe("Schedules, keys, deliveries, budgets and all else that is recorded beside runs."),
    values: z.int().describe("How many large values there are."),
    files: z.int().describe("How many stored files and artifacts there are."),
  }),
  errors: ["BACKUP_INVALID", "BLOB_MISSING", "DATA_EXISTS", "DATA_LOCKED", "SECRET_UNREADABLE"],
  http: FOR_OPERATORS,
  cli: {
    verb: "db copy",
    args: ["from"],
    show: ({ place, runs, events, records, values, files }) => ({
      data: `${place}: ${runs} runs with ${events} events, ${records} records, ${values} values, ${files} files`,
      told: ["Start nothing on the old data any more: the same steps would run in both places."],
    }),
    example: "db copy .pawl",
  },
  mcp: FOR_OPERATORS,
  handle: async ({ app }: OperationContext<Care>, { from, files }) => app.copyData(from, files),
});

function databaseOf(app: Care): DatabaseCare {
  const database = app.database?.();
  if (database !== undefined) return database;
  throw new PawlError("CONFIG_INVALID", {
    message:
      "`database.url` (DATABASE_URL) is not set: runs are kept in the data directory, whose files are brought up to date when they are opened.",
    remedy: "Set DATABASE_URL to postgresql://USER:PASSWORD@HOST:5432/DATABASE to work on a database.",
  });
}
